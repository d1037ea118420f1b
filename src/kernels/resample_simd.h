#pragma once
#include "kernels/resample.h"

// The inner loops in AVX2; to be called only where has_avx2().
namespace intarsia::kernels {

constexpr int kPrecisionBits = 32 - 8 - 2;

/// Up to 4 rows at once. As resample_along_rows; returns from which output on the rest of the row
/// is left to do, because its taps would read at or after in_end.
int64_t along_rows_avx2(const uint8_t* in, const uint8_t* in_end, int64_t rows, const Taps& taps,
                        uint8_t* out);

/// One row of the output; returns how many of its bytes are done (all but the last few).
int64_t across_rows_avx2(const uint8_t* in, int64_t bytes, const Taps& taps, int64_t row,
                         uint8_t* out);

}  // namespace intarsia::kernels
