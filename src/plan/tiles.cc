#include <c10/util/StringUtil.h>
#include <intarsia/plan.h>

#include <algorithm>

#include "check.h"

namespace intarsia {

TileRule consistent_rule(int64_t tile, int64_t stride, Scale scale) {
  return {.tile = tile,
          .stride = stride,
          .crop = scale.floor(stride),
          .blend = scale.floor(tile) - scale.floor(stride),
          .scale = scale};
}

std::string fault_of(const TileRule& r) {
  if (r.tile < 1) return c10::str("a tile of ", r.tile, " is empty");
  if (r.stride < 1)
    return c10::str("a stride of ", r.stride, " never moves on: the overlap takes the whole tile");
  if (r.stride > r.tile)
    return c10::str("a stride of ", r.stride, " leaves holes between tiles of ", r.tile);
  if (!r.scale.whole(r.tile) || !r.scale.whole(r.stride))
    return c10::str("tile ", r.tile, " and stride ", r.stride,
                    " are not whole numbers of output units (", r.scale.num, "/", r.scale.den, ")");
  const TileRule right = consistent_rule(r.tile, r.stride, r.scale);
  if (r.crop != right.crop)
    return c10::str(
        "each tile would keep ", r.crop, " of the ", right.crop,
        " that lie between two tile starts: the output gets a wrong size or shifted content");
  if (r.blend != right.blend)
    return c10::str("the blend of ", r.blend, " is not the true overlap of ", right.blend,
                    ": tiles would be blended out of place");
  return "";
}

std::vector<TileSpan> tile_axis(int64_t extent, const TileRule& rule) {
  check(extent >= 0, "an axis of ", extent, " cannot be tiled");
  const std::string fault = fault_of(rule);
  check(fault.empty(), "tile settings refused: ", fault);
  std::vector<TileSpan> spans;
  for (int64_t start = 0; start < extent; start += rule.stride) {
    const Range in{start, std::min(start + rule.tile, extent)};
    const int64_t out = rule.scale.floor(in.size());
    const int64_t before = spans.empty() ? 0 : spans.back().out;
    spans.push_back({.in = in,
                     .out = out,
                     .kept = std::min(rule.crop, out),
                     .blend = std::min({before, out, rule.blend})});
  }
  return spans;
}

TileGrid tile_grid(int64_t height, int64_t width, const TileRule& rows, const TileRule& cols) {
  return {tile_axis(height, rows), tile_axis(width, cols)};
}

int64_t TileGrid::area(int64_t id) const {
  const auto n = int64_t(cols.size());
  return rows[id / n].in.size() * cols[id % n].in.size();
}

namespace {

int64_t kept(const std::vector<TileSpan>& spans) {
  int64_t sum = 0;
  for (const TileSpan& s : spans) sum += s.kept;
  return sum;
}

}  // namespace

int64_t TileGrid::out_height() const { return kept(rows); }
int64_t TileGrid::out_width() const { return kept(cols); }

std::vector<double> TileGrid::workloads() const {
  std::vector<double> work;
  for (int64_t id = 0; id < count(); ++id) work.push_back(double(area(id)));
  return work;
}

}  // namespace intarsia
