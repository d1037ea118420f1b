#pragma once
#include <intarsia/plan.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// How pictures of many sizes are packed into blocks of one size and spread over ranks. Arithmetic
// only. A patch is one row of a vision encoder's input; merge patches become one output row.
namespace intarsia {

/// One picture (frames = 1) or the frames of one video.
struct PackItem {
  int64_t frames = 1;
  int64_t frame_patches = 0;  ///< patches of one frame: attention stays inside of it
  int64_t patches() const { return frames * frame_patches; }
};

/// A run of whole frames of one item that lies in one block.
struct Piece {
  int64_t item = 0;
  int64_t first_frame = 0;
  int64_t frames = 1;
  int64_t block = 0;
  int64_t offset = 0;  ///< first patch inside the block
  bool operator==(const Piece&) const = default;
};

struct Packing {
  int64_t block_size = 0;
  int64_t blocks = 0;         ///< all of them, empty ones too
  std::vector<Piece> pieces;  ///< by item, then frame
};

/// First fit decreasing: pictures by patches descending (ties in item order) each go into the first
/// block with room; inside a block they lie in item order. Videos come as pieces of
/// ⌊block_size / frame_patches⌋ frames, and a block holds nothing beside the pieces of one video.
/// blocks: how many there are; 0: as many as it takes. Throws std::invalid_argument naming the item
/// that is too large, its patches and the block size, or how many blocks it would take.
Packing pack_first_fit(std::span<const PackItem> items, int64_t block_size, int64_t blocks = 0);

/// The same pieces with blocks renumbered: old block order[i] becomes block i.
Packing renumber(const Packing& packing, std::span<const int64_t> order);

/// Where attention may look: the frames in each block, as block-local patch ranges in order of
/// place. Padding belongs to none.
std::vector<std::vector<Range>> segments(const Packing& packing, std::span<const PackItem> items);

/// The bounds tensors of the block-packed kernel: first and one past the last key of each patch,
/// [blocks · block_size], block-local; 0, 0 on padding.
struct Bounds {
  std::vector<int32_t> min, max;
};
Bounds bounds(const Packing& packing, std::span<const PackItem> items);

/// For each output row in item order, its row among the blocks' outputs (block_size / merge rows a
/// block). `valid` rows count; the rest up to blocks · block_size / merge alias the last row and
/// must not be read.
struct Unpack {
  std::vector<int64_t> rows;
  int64_t valid = 0;
};
Unpack unpack_rows(const Packing& packing, std::span<const PackItem> items, int64_t merge);

/// a·S² + b·S + c: seconds (or any unit) that one frame of S patches takes; additive over frames.
struct Cost {
  double quadratic = 0;
  double linear = 1;
  double constant = 0;
  double of(const PackItem& item) const;
};

/// An order of blocks whose consecutive runs of blocks/ranks each cost about the same: dearest
/// first, each to the cheapest rank that has room. blocks must divide by ranks.
std::vector<int64_t> deal_blocks(const Packing& packing, std::span<const PackItem> items,
                                 int64_t ranks, const Cost& cost);

/// Σ patches² / (blocks · block_size²): the share of a dense block attention that is of use.
double block_efficiency(const Packing& packing, std::span<const PackItem> items);

/// Blocks of a bucket of `patches`: ⌈patches/block_size⌉, rounded up to a multiple of dp.
int64_t bucket_blocks(int64_t patches, int64_t block_size, int64_t dp);

/// The smallest bucket whose blocks hold the packed items (which may take more blocks than their
/// patches say). Throws std::invalid_argument if there is none, naming need and largest bucket.
struct BucketChoice {
  int64_t bucket = 0;
  Packing packing;  ///< into bucket_blocks() blocks
};
BucketChoice choose_bucket(std::span<const int64_t> buckets, std::span<const PackItem> items,
                           int64_t block_size, int64_t dp);

/// Powers of two from block_size up to at least `largest` patches.
std::vector<int64_t> automatic_buckets(int64_t block_size, int64_t largest);

/// Checks a list of buckets: not empty, ascending, ≥ block_size. Throws std::invalid_argument.
void check_buckets(std::span<const int64_t> buckets, int64_t block_size);

struct TpDp {
  int64_t tp = 1;  ///< ranks that share one copy of the weights
  int64_t dp = 1;  ///< copies
  bool operator==(const TpDp&) const = default;
};
/// Neither: tp 1, dp world. One: the other follows. Both: tp·dp must be the world. Resolving a
/// result again changes nothing. Throws std::invalid_argument.
TpDp resolve_tp_dp(std::optional<int64_t> tp, std::optional<int64_t> dp, int64_t world);

/// Ranks of each group. Columns are empty if dp is 1. Throws std::invalid_argument if world/tp does
/// not divide by dp.
struct SplitGroups {
  std::vector<std::vector<int64_t>> rows;     ///< tensor parallel: neighbours
  std::vector<std::vector<int64_t>> columns;  ///< data parallel: same part of the weights
};
SplitGroups split_groups(int64_t world, int64_t tp, int64_t dp);

}  // namespace intarsia
