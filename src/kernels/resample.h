#pragma once
#include <cstdint>
#include <vector>

// Bicubic resampling of RGB bytes, separable, with an antialiasing kernel that widens by the scale:
// coefficients in fixed point and each pass rounded to bytes as Pillow does it, so that bits agree.
namespace intarsia::kernels {

/// How one axis is resampled: output i is the sum of `count[i]` samples from `first[i]` on, times
/// its coefficients (22 bits after the point).
struct Taps {
  int64_t in = 0;
  int64_t out = 0;
  int64_t stride = 0;  ///< coefficients of an output; a multiple of 4, those after count are 0
  std::vector<int64_t> first;
  std::vector<int64_t> count;
  std::vector<int32_t> coefficients;
  const int32_t* of(int64_t i) const { return coefficients.data() + i * stride; }
};
/// in, out ≥ 1.
Taps bicubic_taps(int64_t in, int64_t out);

/// Whether this CPU can do the inner loops in AVX2: the same integers as the plain ones.
bool has_avx2();

/// Rows of taps.in pixels become rows of taps.out pixels; rows lie one after the other. No byte at
/// or after in_end is read. avx2: only where has_avx2().
void resample_along_rows(const uint8_t* in, const uint8_t* in_end, int64_t rows, const Taps& taps,
                         uint8_t* out, bool avx2 = has_avx2());

/// Rows [begin, end) of the output, whose row `begin` is at `out`; a row has `bytes` bytes. in:
/// the first of taps.in rows.
void resample_across_rows(const uint8_t* in, int64_t bytes, const Taps& taps, int64_t begin,
                          int64_t end, uint8_t* out, bool avx2 = has_avx2());

}  // namespace intarsia::kernels
