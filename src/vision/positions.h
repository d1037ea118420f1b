#pragma once
#include <span>

#include "vision/tower.h"

namespace intarsia::vision {

/// Row and column of each patch of a frame, in the order of merge cells: int64 [2, h·w].
at::Tensor cell_order(const Grid& grid, int64_t merge);

/// cos and sin of the two-axis rotary embedding, float32 [h·w, head_dim] of one frame.
struct Rotary {
  at::Tensor cos, sin;
};
Rotary rotary(const at::Tensor& places, int64_t head_dim, double theta);

/// The learned table at the places of a frame, between its rows (linspace, so that corners meet
/// corners), summed in float32: [h·w, hidden] in float32. table: [side², hidden].
struct Corners {
  at::Tensor rows;     ///< int64 [4, h·w]: of the table
  at::Tensor weights;  ///< float32 [4, h·w]
};
Corners table_corners(const at::Tensor& places, const Grid& grid, int64_t side);
at::Tensor table_positions(const at::Tensor& table, const Corners& corners);

/// Qwen2.5's windows over the merge cells of one item (vision.md 1.17): the cells in window order,
/// and where each window ends, counted in patches.
struct Windows {
  std::vector<int64_t> order;
  std::vector<int64_t> ends;
};
Windows windows_of(const Grid& grid, int64_t merge, int64_t window_cells);

/// One item's tokens, all of them mine. order: the item's patches in the order of the tokens; empty
/// if that is how they come.
struct ItemTokens {
  Tokens tokens;
  at::Tensor order;  ///< int64 [n], or undefined
};
ItemTokens tokens_of(const Tower& tower, const Grid& grid);

}  // namespace intarsia::vision
