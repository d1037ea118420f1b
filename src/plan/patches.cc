#include <intarsia/plan.h>

#include <algorithm>

#include "check.h"

namespace intarsia {
namespace {

/// The largest number of rows ≤ √parts that divides parts (vae.md 1.5).
int64_t rows_for(int64_t parts) {
  int64_t rows = 1;
  for (int64_t r = 1; r * r <= parts; ++r)
    if (parts % r == 0) rows = r;
  return rows;
}

Range grow(const Range& core, int64_t halo, int64_t extent) {
  return {std::max<int64_t>(core.begin - halo, 0), std::min(core.end + halo, extent)};
}

}  // namespace

PatchGrid patch_grid(int64_t height, int64_t width, int64_t parts, int64_t tile_halo) {
  check(parts >= 1, "cannot cut a picture into ", parts, " patches; use 1 or more");
  check(height >= 1 && width >= 1, "cannot cut an empty picture of ", height, "x", width);
  PatchGrid grid;
  grid.grid_rows = rows_for(parts);
  grid.grid_cols = parts / grid.grid_rows;
  for (int64_t id = 0; id < parts; ++id) {
    PatchCell cell;
    cell.core_rows = even_part(height, grid.grid_rows, id / grid.grid_cols);
    cell.core_cols = even_part(width, grid.grid_cols, id % grid.grid_cols);
    if (cell.core_rows.empty() || cell.core_cols.empty()) continue;
    const int64_t core = std::min(cell.core_rows.size(), cell.core_cols.size());
    const int64_t halo = std::max(tile_halo, core / 2);
    cell.rows = grow(cell.core_rows, halo, height);
    cell.cols = grow(cell.core_cols, halo, width);
    grid.cells.push_back(cell);
  }
  return grid;
}

}  // namespace intarsia
