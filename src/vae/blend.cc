#include "vae/blend.h"

#include "aten.h"
#include "check.h"

namespace intarsia::vae {
namespace {

/// Weights y/extent, in double as Python has them, shaped to broadcast along dim of a 4-D tensor.
at::Tensor ramp(int64_t extent, int64_t dim, at::Device device) {
  std::vector<int64_t> shape(4, 1);
  shape[dim] = extent;
  return (at::arange(extent, at::kDouble) / double(extent)).view(shape).to(device);
}

/// x·weight with the product in float32 (or x's wider type), rounded to x's dtype.
at::Tensor weighted(const at::Tensor& x, const at::Tensor& weight) {
  const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return (x.to(wide) * weight.to(wide)).to(x.scalar_type());
}

}  // namespace

void blend(const at::Tensor& a, at::Tensor& b, int64_t dim, int64_t extent) {
  if (extent == 0) return;
  const at::Tensor from = a.narrow(dim, a.size(dim) - extent, extent);
  at::Tensor onto = b.narrow(dim, 0, extent);
  const at::Tensor y = ramp(extent, dim, b.device());
  onto.copy_(weighted(from, 1 - y).add_(weighted(onto, y)));
}

at::Tensor merge_tiles(TileStream& tiles, const TileGrid& grid) {
  at::Tensor whole;
  std::vector<at::Tensor> above(grid.cols.size());
  at::Tensor left;
  int64_t y = 0, x = 0;
  while (auto tile = tiles.next()) {
    const auto [i, j] = tile->grid_coord;
    const TileSpan& row = grid.rows[i];
    const TileSpan& col = grid.cols[j];
    at::Tensor& t = tile->tensor;
    TORCH_INTERNAL_ASSERT(t.size(2) == row.out && t.size(3) == col.out, "tile ", i, ",", j, " is ",
                          t.size(2), "x", t.size(3), ", planned ", row.out, "x", col.out);
    if (!whole.defined())
      whole = at::empty({t.size(0), t.size(1), grid.out_height(), grid.out_width()}, t.options());
    if (i > 0) blend(above[j], t, 2, row.blend);
    if (j > 0) blend(left, t, 3, col.blend);
    whole.narrow(2, y, row.kept)
        .narrow(3, x, col.kept)
        .copy_(t.narrow(2, 0, row.kept).narrow(3, 0, col.kept));
    left = above[j] = t;
    x += col.kept;
    if (j + 1 == int64_t(grid.cols.size())) {
      x = 0;
      y += row.kept;
    }
  }
  return whole;
}

}  // namespace intarsia::vae
