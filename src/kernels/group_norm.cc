#include "kernels/group_norm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "aten.h"

namespace intarsia::kernels {
namespace {

constexpr int64_t kBlockRows = 512;

/// Moments of each group over `rows` rows of x. Values are shifted by the first one of their group,
/// so that squares stay small and nothing cancels.
template <typename T>
void block_moments(const T* x, int64_t rows, int64_t channels, int64_t groups, Moments* out) {
  const int64_t width = channels / groups;
  std::vector<double> pivot(channels), sum(channels, 0.0), square(channels, 0.0);
  for (int64_t c = 0; c < channels; ++c) pivot[c] = double(float(x[c / width * width]));
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const double d = double(float(row[c])) - pivot[c];
      sum[c] += d;
      square[c] += d * d;
    }
  }
  const double n = double(rows) * double(width);
  for (int64_t g = 0; g < groups; ++g) {
    double s = 0, q = 0;
    for (int64_t c = g * width; c < (g + 1) * width; ++c) {
      s += sum[c];
      q += square[c];
    }
    out[g] = {n, pivot[g * width] + s / n, std::max(0.0, q - s * (s / n))};
  }
}

}  // namespace

Moments merge(const Moments& a, const Moments& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const double n = a.count + b.count;
  const double d = b.mean - a.mean;
  return {n, a.mean + d * (b.count / n), a.m2 + b.m2 + d * d * (a.count * b.count / n)};
}

template <typename T>
void group_moments(const T* x, int64_t rows, int64_t channels, int64_t groups, Moments* out) {
  const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  std::vector<Moments> parts(blocks * groups);
  at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t end) {
    for (int64_t b = first; b < end; ++b) {
      const int64_t row = b * kBlockRows;
      block_moments(x + row * channels, std::min(kBlockRows, rows - row), channels, groups,
                    parts.data() + b * groups);
    }
  });
  std::fill(out, out + groups, Moments{});
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t g = 0; g < groups; ++g) out[g] = merge(out[g], parts[b * groups + g]);
}

template <typename T>
void group_normalize(const T* x, T* y, int64_t rows, int64_t channels, int64_t groups,
                     const Moments* moments, const float* weight, const float* bias, double eps) {
  const int64_t width = channels / groups;
  // y = (x − mean)·scale + bias: subtracting first keeps float32 exact where mean ≫ deviation.
  std::vector<float> mean(channels), scale(channels);
  for (int64_t c = 0; c < channels; ++c) {
    const Moments& m = moments[c / width];
    mean[c] = float(m.mean);
    scale[c] = float(weight[c] / std::sqrt(m.m2 / m.count + eps));
  }
  at::parallel_for(0, rows, kBlockRows, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      const T* in = x + r * channels;
      T* out = y + r * channels;
      for (int64_t c = 0; c < channels; ++c)
        out[c] = T((float(in[c]) - mean[c]) * scale[c] + bias[c]);
    }
  });
}

#define INTARSIA_GROUP_NORM(T)                                                              \
  template void group_moments<T>(const T*, int64_t, int64_t, int64_t, Moments*);            \
  template void group_normalize<T>(const T*, T*, int64_t, int64_t, int64_t, const Moments*, \
                                   const float*, const float*, double)
INTARSIA_GROUP_NORM(float);
INTARSIA_GROUP_NORM(at::BFloat16);
INTARSIA_GROUP_NORM(at::Half);
#undef INTARSIA_GROUP_NORM

}  // namespace intarsia::kernels
