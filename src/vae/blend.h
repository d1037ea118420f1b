#pragma once
#include <intarsia/executor.h>
#include <intarsia/plan.h>

namespace intarsia::vae {

/// Joins tiles [B, C, h, w] as they come (vae.md 1.4): each is blended with the tile above, then
/// with the one to the left, in place and so in cascade; its kept part goes into the output.
/// Products and sum are rounded to the tiles' dtype, as diffusers' are. Holds one row of tiles.
at::Tensor merge_tiles(TileStream& tiles, const TileGrid& grid);

/// Blends the last `extent` lines of a (along dim) into the first of b, in place: line y of b
/// becomes a·(1 − y/extent) + b·(y/extent).
void blend(const at::Tensor& a, at::Tensor& b, int64_t dim, int64_t extent);

}  // namespace intarsia::vae
