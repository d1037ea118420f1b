#include <intarsia/plan.h>

#include <numeric>

#include "check.h"

namespace intarsia {

Range even_part(int64_t extent, int64_t parts, int64_t part) {
  check(extent >= 0, "an extent of ", extent, " cannot be cut; extents start at 0");
  check(parts >= 1, "cannot cut into ", parts, " parts; use 1 or more");
  check(part >= 0 && part < parts, "part ", part, " of ", parts, " does not exist");
  return {extent * part / parts, extent * (part + 1) / parts};
}

std::vector<Range> shard_ranges(const Shard& shard, int64_t extent, int64_t part) {
  const auto segments = shard.segments.empty() ? std::vector<int64_t>{extent} : shard.segments;
  const int64_t sum = std::accumulate(segments.begin(), segments.end(), int64_t{0});
  check(sum == extent, "segments add up to ", sum, " on an axis of ", extent);
  std::vector<Range> ranges;
  int64_t start = 0;
  for (const int64_t segment : segments) {
    const Range r = even_part(segment, shard.parts, part);
    ranges.push_back({start + r.begin, start + r.end});
    start += segment;
  }
  return ranges;
}

}  // namespace intarsia
