// A model of your own on the executor: split, exec, merge. Run: own_model [RANKS]
//
// The "model" enlarges a map ×2 and smooths it over a 3×3 neighbourhood, so that every output pixel
// depends on its neighbours, as in a decoder. Tiles therefore take one more row and column on each
// side (the halo) and throw their share of the output away again: no seams, the same bits.
#include <ATen/ATen.h>
#include <intarsia/executor.h>
#include <intarsia/launch.h>
#include <intarsia/plan.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

using namespace intarsia;

namespace {

at::Tensor model(const at::Tensor& x) {  // [1, C, h, w] → [1, C, 2h, 2w]
  const at::Tensor big = at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
  return at::avg_pool2d(big, {3, 3}, {1, 1}, {1, 1});
}

// Where a core of rows (or columns) lies, and where with its halo.
struct Piece {
  Range core, with_halo;
};

Piece piece(int64_t extent, int64_t parts, int64_t i) {
  const Range core = even_part(extent, parts, i);
  return {core, {std::max<int64_t>(core.begin - 1, 0), std::min(core.end + 1, extent)}};
}

constexpr int64_t kRows = 3, kCols = 4;

Operator smoothing(int64_t height, int64_t width) {
  Operator op;
  op.split = [=](const at::Tensor& z) {
    Split split{.grid = {.split_dims = {2, 3}, .grid_shape = {kRows, kCols}}};
    for (int64_t id = 0; id < kRows * kCols; ++id) {
      const Range y = piece(height, kRows, id / kCols).with_halo;
      const Range x = piece(width, kCols, id % kCols).with_halo;
      split.tasks.push_back(
          {.tile_id = id,
           .grid_coord = {id / kCols, id % kCols},
           .tensor = {z.narrow(2, y.begin, y.size()).narrow(3, x.begin, x.size())},
           .workload = double(y.size() * x.size())});
    }
    return split;
  };
  op.exec = [](const TileTask& task) { return model(task.tensor[0]); };
  op.merge = [=](TileStream& tiles, const GridSpec&) {
    at::Tensor whole;
    while (auto tile = tiles.next()) {
      const Piece y = piece(height, kRows, tile->grid_coord[0]);
      const Piece x = piece(width, kCols, tile->grid_coord[1]);
      if (!whole.defined())
        whole = at::empty({1, tile->tensor.size(1), 2 * height, 2 * width}, tile->tensor.options());
      whole.narrow(2, 2 * y.core.begin, 2 * y.core.size())
          .narrow(3, 2 * x.core.begin, 2 * x.core.size())
          .copy_(tile->tensor.narrow(2, 2 * (y.core.begin - y.with_halo.begin), 2 * y.core.size())
                     .narrow(3, 2 * (x.core.begin - x.with_halo.begin), 2 * x.core.size()));
    }
    return whole;
  };
  return op;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 4;
  const at::Tensor z = at::rand({1, 8, 50, 70});  // made once, before ranks start
  int code = 1;
  launch::run(ranks, [&](Group& group) {
    const Executed done = execute(z, smoothing(50, 70), group);
    if (group.rank() != 0) return;
    const double off = (done.result - model(z)).abs().max().item<double>();
    std::cout << kRows * kCols << " tiles on " << group.size()
              << " ranks, largest difference to the whole: " << off << "\n";
    code = off < 1e-6 ? 0 : 1;
  });
  return code;
}
