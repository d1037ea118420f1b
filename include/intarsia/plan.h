#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Arithmetic only: how a whole is cut into parts. No tensors, no messages.
namespace intarsia {

/// [begin, end).
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool operator==(const Range&) const = default;
};

/// Part `part` of `parts` nearly equal ones: [⌊part·extent/parts⌋, ⌊(part+1)·extent/parts⌋).
/// Empty where there are more parts than extent.
Range even_part(int64_t extent, int64_t parts, int64_t part);

/// How a tensor is cut over ranks. `segments`: lengths of packed pieces along `axis` (such as
/// [q, k, v]) each of which is cut alike; empty: one piece. parts = 1: not cut.
struct Shard {
  int64_t axis = 0;
  int64_t parts = 1;
  std::vector<int64_t> segments = {};
};

/// What part `part` holds of an axis of `extent`: one range a segment, in order, uneven if need be.
/// Throws std::invalid_argument if the segments do not add up to extent.
std::vector<Range> shard_ranges(const Shard& shard, int64_t extent, int64_t part);

/// A rational scale from input to output units: decode f/1, encode 1/f.
struct Scale {
  int64_t num = 1;
  int64_t den = 1;
  int64_t floor(int64_t x) const { return x * num / den; }
  bool whole(int64_t x) const { return x * num % den == 0; }
};

/// How one axis is cut into overlapping tiles (vae.md 1.3). tile and stride count input units,
/// crop (kept part of a tile) and blend (overlap blended over) output units.
struct TileRule {
  int64_t tile = 0;
  int64_t stride = 0;
  int64_t crop = 0;
  int64_t blend = 0;
  Scale scale;
};

/// The only rule for a tile, a stride and a scale whose output is right for every extent:
/// crop = scale·stride, blend = scale·(tile − stride).
TileRule consistent_rule(int64_t tile, int64_t stride, Scale scale);

/// Empty if the rule gives the right size and aligned content for every extent (1 ≤ stride ≤ tile,
/// crop = scale·stride, blend = scale·(tile − stride), all whole); else what is wrong.
std::string fault_of(const TileRule& rule);

/// One tile on one axis.
struct TileSpan {
  Range in;           ///< input units
  int64_t out = 0;    ///< output units it yields
  int64_t kept = 0;   ///< of these, the first ones that stay
  int64_t blend = 0;  ///< effective blend with the tile before it; 0 for the first
  bool operator==(const TileSpan&) const = default;
};

/// Tiles start at 0, stride, 2·stride … while < extent, and are cut at the edge.
std::vector<TileSpan> tile_axis(int64_t extent, const TileRule& rule);

/// Tiles over two axes, row-major.
struct TileGrid {
  std::vector<TileSpan> rows;
  std::vector<TileSpan> cols;
  int64_t count() const { return int64_t(rows.size()) * int64_t(cols.size()); }
  int64_t area(int64_t id) const;  ///< input area of tile `id`
  int64_t out_height() const;      ///< sum of the kept parts
  int64_t out_width() const;
  std::vector<double> workloads() const;  ///< area of each tile
};
TileGrid tile_grid(int64_t height, int64_t width, const TileRule& rows, const TileRule& cols);

/// The small-picture split of vae.md 1.5: cores that partition the picture, each with a halo that
/// is computed and thrown away. Input units.
struct PatchCell {
  Range core_rows, core_cols;
  Range rows, cols;  ///< core and halo
};
struct PatchGrid {
  int64_t grid_rows = 1;
  int64_t grid_cols = 1;
  std::vector<PatchCell> cells;  ///< row-major; cells with an empty core are left out
};
/// parts: how many cells are wanted. tile_halo: the least halo, ⌊⌊tile·overlap⌋/2⌋.
PatchGrid patch_grid(int64_t height, int64_t width, int64_t parts, int64_t tile_halo);

/// Greedy longest processing time: tasks by workload descending (ties in id order), each to the
/// rank with the least load so far (ties to the lowest rank). Returns the task ids of each rank, in
/// the order given out. Throws std::invalid_argument if parts < 1 or a workload is negative or NaN.
std::vector<std::vector<int64_t>> balance(std::span<const double> workloads, int64_t parts);

/// Sum of workloads of each part, and max / mean of these.
std::vector<double> loads(std::span<const double> workloads,
                          const std::vector<std::vector<int64_t>>& parts);
double imbalance(std::span<const double> loads);

/// Contiguous bands of one axis (vae.md 1.11); empty ones at the ranks that get no rows.
std::vector<Range> bands(int64_t extent, int64_t parts);
/// Where band `part` finds its neighbours: nearest non-empty band before and after, or -1.
int64_t band_before(const std::vector<Range>& bands, int64_t part);
int64_t band_after(const std::vector<Range>& bands, int64_t part);

/// Rows outside a band that a convolution needs, and zeros at the edges of the whole.
struct Halo {
  int64_t before = 0;        ///< rows taken from the band before
  int64_t after = 0;         ///< rows taken from the band after
  int64_t zeros_before = 0;  ///< zero rows at the first edge of the whole
  int64_t zeros_after = 0;
};
/// For kernel k, stride s (k ≥ s), padding p_before / p_after on the whole axis. The output band is
/// [begin/s, end/s): begin must divide by s. Throws std::invalid_argument otherwise.
Halo halo(const Range& band, int64_t extent, int64_t kernel, int64_t stride, int64_t pad_before,
          int64_t pad_after);

}  // namespace intarsia
