#include "kernels/resample.h"

#include <algorithm>
#include <cmath>

#include "kernels/resample_simd.h"

// A fused multiply-add would round a coefficient differently than Pillow's does.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

namespace intarsia::kernels {
namespace {

constexpr double kRadius = 2;  // of the kernel, in output samples when shrinking
constexpr int32_t kHalf = 1 << (kPrecisionBits - 1);

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << kPrecisionBits);
  return static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

uint8_t to_byte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
}

void along_row(const uint8_t* in, const Taps& taps, int64_t from, uint8_t* out) {
  for (int64_t i = from; i < taps.out; ++i) {
    const int32_t* k = taps.of(i);
    const uint8_t* p = in + taps.first[i] * 3;
    int32_t r = kHalf, g = kHalf, b = kHalf;
    for (int64_t j = 0; j < taps.count[i]; ++j, p += 3) {
      r += p[0] * k[j];
      g += p[1] * k[j];
      b += p[2] * k[j];
    }
    out[i * 3] = to_byte(r);
    out[i * 3 + 1] = to_byte(g);
    out[i * 3 + 2] = to_byte(b);
  }
}

void across_row(const uint8_t* in, int64_t bytes, const Taps& taps, int64_t row, int64_t from,
                uint8_t* out) {
  const int32_t* k = taps.of(row);
  const uint8_t* top = in + taps.first[row] * bytes;
  constexpr int64_t kStrip = 256;
  int32_t sums[kStrip];
  for (int64_t x = from; x < bytes; x += kStrip) {
    const int64_t n = std::min(kStrip, bytes - x);
    std::fill_n(sums, n, kHalf);
    for (int64_t j = 0; j < taps.count[row]; ++j)
      for (int64_t i = 0; i < n; ++i) sums[i] += top[j * bytes + x + i] * k[j];
    for (int64_t i = 0; i < n; ++i) out[x + i] = to_byte(sums[i]);
  }
}

}  // namespace

Taps bicubic_taps(int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double widening = std::max(scale, 1.0);
  const double support = kRadius * widening;
  const double narrowing = 1.0 / widening;
  Taps taps;
  taps.in = in;
  taps.out = out;
  taps.stride = (static_cast<int64_t>(std::ceil(support)) * 2 + 1 + 3) / 4 * 4;
  taps.first.resize(out);
  taps.count.resize(out);
  taps.coefficients.resize(out * taps.stride);
  std::vector<double> weights;
  for (int64_t i = 0; i < out; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t end = std::min(static_cast<int64_t>(center + support + 0.5), in);
    double sum = 0;
    weights.resize(end - first);
    for (int64_t j = 0; j < end - first; ++j) {
      weights[j] = bicubic((static_cast<double>(j + first) - center + 0.5) * narrowing);
      sum += weights[j];
    }
    for (int64_t j = 0; j < end - first; ++j)
      taps.coefficients[i * taps.stride + j] = to_fixed(sum != 0 ? weights[j] / sum : weights[j]);
    taps.first[i] = first;
    taps.count[i] = end - first;
  }
  return taps;
}

void resample_along_rows(const uint8_t* in, const uint8_t* in_end, int64_t rows, const Taps& taps,
                         uint8_t* out, bool avx2) {
  for (int64_t y = 0; y < rows;) {
    const int64_t n = avx2 ? std::min<int64_t>(4, rows - y) : 1;
    const uint8_t* from = in + y * taps.in * 3;
    uint8_t* to = out + y * taps.out * 3;
    const int64_t done = avx2 ? along_rows_avx2(from, in_end, n, taps, to) : 0;
    for (int64_t r = 0; r < n; ++r)
      along_row(from + r * taps.in * 3, taps, done, to + r * taps.out * 3);
    y += n;
  }
}

void resample_across_rows(const uint8_t* in, int64_t bytes, const Taps& taps, int64_t begin,
                          int64_t end, uint8_t* out, bool avx2) {
  for (int64_t y = begin; y < end; ++y, out += bytes) {
    const int64_t done = avx2 ? across_rows_avx2(in, bytes, taps, y, out) : 0;
    across_row(in, bytes, taps, y, done, out);
  }
}

}  // namespace intarsia::kernels
