#include "vision/positions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aten.h"

namespace intarsia::vision {
namespace {

at::Tensor indices(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

/// The item's patches in window order: cells stay together.
at::Tensor patch_order(const Windows& windows, int64_t cell) {
  const at::Tensor cells = indices(windows.order).unsqueeze(1) * cell;
  return (cells + at::arange(cell, at::kLong)).flatten();
}

std::vector<Range> frame_segments(const Grid& grid) {
  std::vector<Range> frames;
  for (int64_t t = 0; t < grid.t; ++t)
    frames.push_back({t * grid.h * grid.w, (t + 1) * grid.h * grid.w});
  return frames;
}

std::vector<Range> window_segments(const Windows& windows) {
  std::vector<Range> segments;
  int64_t begin = 0;
  for (const int64_t end : windows.ends) {
    segments.push_back({begin, end});
    begin = end;
  }
  return segments;
}

}  // namespace

at::Tensor cell_order(const Grid& grid, int64_t merge) {
  const auto in_cells = [&](const at::Tensor& x) {
    return x.expand({grid.h, grid.w})
        .reshape({grid.h / merge, merge, grid.w / merge, merge})
        .transpose(1, 2)
        .flatten();
  };
  return at::stack({in_cells(at::arange(grid.h, at::kLong).unsqueeze(1)),
                    in_cells(at::arange(grid.w, at::kLong).unsqueeze(0))});
}

Rotary rotary(const at::Tensor& places, int64_t head_dim, double theta) {
  const int64_t half = head_dim / 2;
  const at::Tensor exponents = at::arange(0, half, 2, at::kFloat) / double(half);
  const at::Tensor frequencies = at::pow(theta, exponents).reciprocal();
  const at::Tensor angles = places.to(at::kFloat).unsqueeze(2) * frequencies;  // [2, n, half/2]
  const at::Tensor once = at::cat({angles[0], angles[1]}, 1);
  const at::Tensor twice = at::cat({once, once}, 1);
  return {twice.cos(), twice.sin()};
}

Corners table_corners(const at::Tensor& places, const Grid& grid, int64_t side) {
  struct Axis {
    at::Tensor low, high, share;
  };
  const auto axis = [&](int64_t extent, const at::Tensor& at_place) {
    const at::Tensor x = at::linspace(0, double(side - 1), extent, at::kFloat);
    const at::Tensor low = x.to(at::kLong);
    const at::Tensor high = (low + 1).clamp_max(side - 1);
    const auto pick = [&](const at::Tensor& values) { return values.index_select(0, at_place); };
    return Axis{pick(low), pick(high), pick(x - low.to(at::kFloat))};
  };
  const Axis y = axis(grid.h, places[0]), x = axis(grid.w, places[1]);
  const at::Tensor top = 1 - y.share, left = 1 - x.share;
  return {at::stack({y.low * side + x.low, y.low * side + x.high, y.high * side + x.low,
                     y.high * side + x.high}),
          at::stack({top * left, top * x.share, y.share * left, y.share * x.share})};
}

at::Tensor table_positions(const at::Tensor& table, const Corners& corners) {
  at::Tensor sum;
  for (int64_t c = 0; c < 4; ++c) {
    const at::Tensor part = table.index_select(0, corners.rows[c].to(table.device()))
                                .mul_(corners.weights[c].to(table.device()).unsqueeze(1));
    sum = sum.defined() ? sum.add_(part) : part;
  }
  return sum;
}

Windows windows_of(const Grid& grid, int64_t merge, int64_t window_cells) {
  const int64_t rows = grid.h / merge, cols = grid.w / merge;
  Windows w;
  for (int64_t t = 0; t < grid.t; ++t)
    for (int64_t y = 0; y < rows; y += window_cells)
      for (int64_t x = 0; x < cols; x += window_cells) {
        for (int64_t r = y; r < std::min(y + window_cells, rows); ++r)
          for (int64_t c = x; c < std::min(x + window_cells, cols); ++c)
            w.order.push_back((t * rows + r) * cols + c);
        w.ends.push_back(int64_t(w.order.size()) * merge * merge);
      }
  return w;
}

ItemTokens tokens_of(const Tower& tower, const Grid& grid) {
  const VisionConfig& c = tower.config;
  const at::Tensor places = cell_order(grid, c.merge);
  const Rotary turn = rotary(places, c.head_dim(), c.theta);
  const auto all_frames = [&](const at::Tensor& x) { return x.repeat({grid.t, 1}); };
  ItemTokens item;
  Tokens& t = item.tokens;
  t.cos = all_frames(turn.cos);
  t.sin = all_frames(turn.sin);
  if (tower.position_table.defined()) {
    const auto side = int64_t(std::lround(std::sqrt(double(c.position_rows))));
    t.positions = all_frames(
        table_positions(tower.position_table, table_corners(places, grid, side)).to(tower.dtype));
  }
  t.frames = frame_segments(grid);
  t.total = grid.patches();
  t.mine = {0, t.total};
  if (c.window > 0) {
    const Windows windows = windows_of(grid, c.merge, c.window_cells());
    item.order = patch_order(windows, c.cell());
    t.cos = t.cos.index_select(0, item.order);
    t.sin = t.sin.index_select(0, item.order);
    t.windows = window_segments(windows);
  }
  t.cos = t.cos.to(tower.device);
  t.sin = t.sin.to(tower.device);
  return item;
}

}  // namespace intarsia::vision
