#include "nn/segments.h"

#include <algorithm>

#include "aten.h"

namespace intarsia::nn {
namespace {

/// Equal segments, one right after the other, are one batch.
size_t run_length(std::span<const Range> segments, size_t from, const Range& mine) {
  const auto inside = [&](const Range& s) { return s.begin >= mine.begin && s.end <= mine.end; };
  size_t to = from + 1;
  while (inside(segments[from]) && to < segments.size() && inside(segments[to]) &&
         segments[to].size() == segments[from].size() && segments[to].begin == segments[to - 1].end)
    ++to;
  return to - from;
}

/// [count·size, heads, width] → [count, heads, size, width]
at::Tensor batched(const at::Tensor& x, int64_t begin, int64_t size, int64_t count) {
  return x.narrow(0, begin, size * count).view({count, size, x.size(1), x.size(2)}).transpose(1, 2);
}

}  // namespace

at::Tensor segment_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             std::span<const Range> segments, int64_t first) {
  const Range mine{first, first + q.size(0)};
  at::Tensor out = at::zeros(q.sizes(), q.options());
  for (size_t i = 0; i < segments.size();) {
    const auto count = int64_t(run_length(segments, i, mine));
    const Range& s = segments[i];
    i += size_t(count);
    const Range seen{std::max(s.begin, mine.begin), std::min(s.end, mine.end)};
    if (seen.empty()) continue;
    const at::Tensor y = at::scaled_dot_product_attention(
        batched(q, seen.begin - first, seen.size(), count), batched(k, s.begin, s.size(), count),
        batched(v, s.begin, s.size(), count));
    out.narrow(0, seen.begin - first, seen.size() * count)
        .view({count, seen.size(), q.size(1), q.size(2)})
        .copy_(y.transpose(1, 2));
  }
  return out;
}

}  // namespace intarsia::nn
