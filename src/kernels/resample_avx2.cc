#include <cstring>

#include "kernels/resample_simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define INTARSIA_AVX2 __attribute__((target("avx2")))

// A coefficient k is split into k = high·2¹² + low, both within 16 bits, so that one instruction
// multiplies and adds pairs of samples. The sums may wrap; their total, within 32 bits, does not.
namespace intarsia::kernels {
namespace {

constexpr int kLowBits = 12;

struct Sums {
  __m256i high;
  __m256i low;
};

// A pair of coefficients in each 32 bits: the first below.
INTARSIA_AVX2 inline __m128i pairs(__m128i a, __m128i b) { return _mm_packs_epi32(a, b); }

INTARSIA_AVX2 inline __m128i high_of(__m128i k) { return _mm_srai_epi32(k, kLowBits); }
INTARSIA_AVX2 inline __m128i low_of(__m128i k) {
  return _mm_and_si128(k, _mm_set1_epi32((1 << kLowBits) - 1));
}

// [k0 k1] for the lower half, [k2 k3] for the upper, repeated for each channel.
INTARSIA_AVX2 inline __m256i spread(__m128i k) {
  const __m256i both = _mm256_broadcastsi128_si256(pairs(k, k));
  const __m256i lanes = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  return _mm256_permutevar8x32_epi32(both, lanes);
}

// R, G, B of 4 pixels as pairs of 16 bits: pixels 0 and 1 in the lower half, 2 and 3 in the upper.
INTARSIA_AVX2 inline __m256i pixel_pairs(const uint8_t* p) {
  const __m256i order =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 6, -1, 9, -1, 7,
                       -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), order);
}

INTARSIA_AVX2 inline void add(Sums& sums, __m256i samples, __m256i high, __m256i low) {
  sums.high = _mm256_add_epi32(sums.high, _mm256_madd_epi16(samples, high));
  sums.low = _mm256_add_epi32(sums.low, _mm256_madd_epi16(samples, low));
}

INTARSIA_AVX2 inline __m256i rounded(const Sums& sums) {
  const __m256i half = _mm256_set1_epi32(1 << (kPrecisionBits - 1));
  const __m256i total = _mm256_add_epi32(_mm256_slli_epi32(sums.high, kLowBits), sums.low);
  return _mm256_srai_epi32(_mm256_add_epi32(total, half), kPrecisionBits);
}

INTARSIA_AVX2 inline void store_pixel(const Sums& sums, uint8_t* out) {
  const Sums folded{_mm256_add_epi32(sums.high, _mm256_permute2x128_si256(sums.high, sums.high, 1)),
                    _mm256_add_epi32(sums.low, _mm256_permute2x128_si256(sums.low, sums.low, 1))};
  const __m128i words = _mm256_castsi256_si128(rounded(folded));
  const __m128i packed = _mm_packs_epi32(words, words);
  const int rgb = _mm_cvtsi128_si32(_mm_packus_epi16(packed, packed));
  std::memcpy(out, &rgb, 3);
}

// One output pixel of kRows rows, so that its coefficients are spread once.
template <int kRows>
INTARSIA_AVX2 inline void along_pixel(const uint8_t* in, int64_t in_stride, const int32_t* k,
                                      int64_t groups, uint8_t* out, int64_t out_stride) {
  Sums sums[kRows];
  for (int r = 0; r < kRows; ++r) sums[r] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (int64_t g = 0; g < groups; ++g) {
    const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(k + g * 4));
    const __m256i high = spread(high_of(four)), low = spread(low_of(four));
    for (int r = 0; r < kRows; ++r)
      add(sums[r], pixel_pairs(in + r * in_stride + g * 12), high, low);
  }
  for (int r = 0; r < kRows; ++r) store_pixel(sums[r], out + r * out_stride);
}

template <int kRows>
INTARSIA_AVX2 int64_t along_rows(const uint8_t* in, const uint8_t* in_end, const Taps& taps,
                                 uint8_t* out) {
  const int64_t in_stride = taps.in * 3, out_stride = taps.out * 3;
  const int64_t readable = in_end - (in + (kRows - 1) * in_stride);  // in the last row
  for (int64_t i = 0; i < taps.out; ++i) {
    const int64_t groups = (taps.count[i] + 3) / 4;
    if ((taps.first[i] + groups * 4 - 4) * 3 + 16 > readable) return i;
    along_pixel<kRows>(in + taps.first[i] * 3, in_stride, taps.of(i), groups, out + i * 3,
                       out_stride);
  }
  return taps.out;
}

// 32 bytes of one output row.
INTARSIA_AVX2 inline void across_bytes(const uint8_t* in, int64_t stride, const int32_t* k,
                                       int64_t count, uint8_t* out) {
  const __m256i zero = _mm256_setzero_si256();
  Sums sums[4] = {{zero, zero}, {zero, zero}, {zero, zero}, {zero, zero}};
  for (int64_t j = 0; j < count; j += 2) {
    const uint8_t* a = in + j * stride;
    const uint8_t* b = j + 1 < count ? a + stride : a;  // k[count] is 0
    const __m256i top = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
    const __m256i bottom = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    const __m128i two = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(k + j));
    const __m256i high = _mm256_broadcastd_epi32(pairs(high_of(two), two));
    const __m256i low = _mm256_broadcastd_epi32(pairs(low_of(two), two));
    const __m256i left = _mm256_unpacklo_epi8(top, bottom);
    const __m256i right = _mm256_unpackhi_epi8(top, bottom);
    add(sums[0], _mm256_unpacklo_epi8(left, zero), high, low);
    add(sums[1], _mm256_unpackhi_epi8(left, zero), high, low);
    add(sums[2], _mm256_unpacklo_epi8(right, zero), high, low);
    add(sums[3], _mm256_unpackhi_epi8(right, zero), high, low);
  }
  const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(rounded(sums[0]), rounded(sums[1])),
                                            _mm256_packs_epi32(rounded(sums[2]), rounded(sums[3])));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
}

}  // namespace

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

int64_t along_rows_avx2(const uint8_t* in, const uint8_t* in_end, int64_t rows, const Taps& taps,
                        uint8_t* out) {
  switch (rows) {
    case 1:
      return along_rows<1>(in, in_end, taps, out);
    case 2:
      return along_rows<2>(in, in_end, taps, out);
    case 3:
      return along_rows<3>(in, in_end, taps, out);
    default:
      return along_rows<4>(in, in_end, taps, out);
  }
}

INTARSIA_AVX2 int64_t across_rows_avx2(const uint8_t* in, int64_t bytes, const Taps& taps,
                                       int64_t row, uint8_t* out) {
  const int64_t whole = bytes / 32 * 32;
  const uint8_t* top = in + taps.first[row] * bytes;
  for (int64_t x = 0; x < whole; x += 32)
    across_bytes(top + x, bytes, taps.of(row), taps.count[row], out + x);
  return whole;
}

}  // namespace intarsia::kernels
#else
namespace intarsia::kernels {

bool has_avx2() { return false; }
int64_t along_rows_avx2(const uint8_t*, const uint8_t*, int64_t, const Taps&, uint8_t*) {
  return 0;
}
int64_t across_rows_avx2(const uint8_t*, int64_t, const Taps&, int64_t, uint8_t*) { return 0; }

}  // namespace intarsia::kernels
#endif
