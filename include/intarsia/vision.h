#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/checkpoint.h>
#include <intarsia/group.h>
#include <intarsia/packing.h>
#include <intarsia/vision_input.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace intarsia::nn {
struct Observer;
}

// Vision encoders of Qwen2-VL, Qwen2.5-VL, Qwen3-VL (dense and MoE) and Qwen3.5 on tp × dp ranks.
namespace intarsia::vision {

/// What vision_config of a config.json says.
struct VisionConfig {
  std::string model_type;  ///< qwen2_vl, qwen2_5_vl, qwen3_vl, qwen3_vl_moe, qwen3_5, …
  std::string hidden_act = "gelu_pytorch_tanh";
  int64_t depth = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t out_hidden = 0;  ///< width of an output row
  int64_t in_channels = 3;
  int64_t patch_size = 16;
  int64_t temporal_patch_size = 2;
  int64_t merge = 2;                    ///< an output row is merge × merge patches
  int64_t position_rows = 0;            ///< of the learned position table; 0: there is none
  std::vector<int64_t> deepstack;       ///< blocks whose output is merged too
  int64_t window = 0;                   ///< pixels a side; 0: attention sees whole frames
  std::vector<int64_t> full_attention;  ///< blocks that see whole frames all the same
  double theta = 10000;

  int64_t head_dim() const { return hidden / heads; }
  int64_t features() const { return in_channels * temporal_patch_size * patch_size * patch_size; }
  int64_t cell() const { return merge * merge; }  ///< patches of an output row
  int64_t window_cells() const { return window / merge / patch_size; }  ///< output rows a side
  int64_t levels() const { return 1 + int64_t(deepstack.size()); }
  int64_t fat_width() const { return out_hidden * levels(); }
};

/// path: a model's folder or its config.json. Throws std::invalid_argument naming key and what is
/// supported.
VisionConfig read_vision_config(const std::filesystem::path& path);

/// Degrees of tensor parallelism that divide heads, MLP and merger widths.
std::vector<int64_t> legal_tp(const VisionConfig& config);

/// Floating point operations of one frame of S patches as a·S² + b·S.
Cost flops(const VisionConfig& config);

/// A picture or a video that is to be encoded. Every rank brings the same list; `patches` is called
/// only on the ranks that run the item, and may run while another item is encoded.
struct Item {
  std::string name;  ///< for messages
  Grid grid;
  std::function<at::Tensor()> patches;  ///< float32 [grid.patches(), features]
};
Item item_of(std::string name, const Patches& patches);

/// Where an item's rows went. If `error` is not empty the item failed, and only it.
struct Embedding {
  Grid grid;
  at::Tensor main;                    ///< [merged, out_hidden]
  std::vector<at::Tensor> deepstack;  ///< a level each, as main
  std::string error;
};

struct LoadOptions {
  std::optional<int64_t> tp, dp;  ///< see resolve_tp_dp
  at::ScalarType dtype = at::ScalarType::Float;
  at::Device device = at::Device(at::DeviceType::CPU);
  bool replicate_if_illegal = false;  ///< a tp that does not divide: 1 instead, with a note
};

struct EncodeOptions {
  /// Patches of a block; 0: no blocks, each item is run alone at its own size.
  int64_t block_size = 0;
  std::vector<int64_t> buckets = {};  ///< with blocks: allowed totals; empty: powers of two
  /// Whether items larger than a rank's fair share are split over the data-parallel ranks: queries
  /// local, keys and values gathered.
  enum class Split { kAuto, kNever, kAlways } split = Split::kAuto;
  std::function<void(int64_t done, int64_t total)> progress = {};  ///< on rank 0
  nn::Observer* observer = nullptr;
};

/// What each data-parallel rank runs.
struct EncodePlan {
  std::vector<std::vector<int64_t>>
      owners;                  ///< unsplit items (or blocks) of each dp rank, in order
  std::vector<int64_t> split;  ///< items that all dp ranks share
  std::vector<double> loads;   ///< flops of each dp rank
  int64_t bucket = 0;          ///< with blocks
  Packing packing;             ///< with blocks, dealt out
};
/// The grids as packing sees them.
std::vector<PackItem> pack_items(std::span<const Grid> grids);
EncodePlan plan_encode(const VisionConfig& config, std::span<const Grid> grids, int64_t dp,
                       const EncodeOptions& options);

struct EncodeReport {
  double busy = 0;     ///< seconds in the tower on this rank, collectives included
  double waiting = 0;  ///< of it in collectives
  int64_t bytes_sent = 0;
  int64_t peak_bytes = 0;  ///< peak resident memory so far of the process the rank lives in
};

struct Encoded {
  std::vector<Embedding> items;  ///< in the order given, on every rank
  EncodePlan plan;
  std::vector<EncodeReport> ranks;  ///< of the world
  std::vector<std::string> notes;
};

class Encoder {
 public:
  /// Collective. Each rank reads its part of each weight only. path: a model's folder.
  static Encoder load(const std::filesystem::path& path, Group& world,
                      const LoadOptions& options = {});

  const VisionConfig& config() const;
  TpDp split() const;
  int64_t weight_bytes() const;  ///< on this rank
  const std::vector<std::string>& notes() const;

  /// Collective. An item that cannot be read or encoded fails alone.
  Encoded encode(const std::vector<Item>& items, const EncodeOptions& options = {}) const;

 private:
  struct Impl;
  explicit Encoder(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace intarsia::vision
