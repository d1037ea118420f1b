#pragma once
#include <cstdint>

// Raw pointers and shapes. Rows are pixels: x is [rows, channels], channels innermost
// (one picture of a channels-last batch).
namespace intarsia::kernels {

/// Count, mean and sum of squared deviations of one group; mergeable (Chan et al.), in double.
struct Moments {
  double count = 0;
  double mean = 0;
  double m2 = 0;
};
Moments merge(const Moments& a, const Moments& b);

/// Moments of each group of x: `groups` results. Rows are cut into blocks of fixed size and merged
/// in order, so that the bits do not depend on the number of threads.
template <typename T>
void group_moments(const T* x, int64_t rows, int64_t channels, int64_t groups, Moments* out);

/// y = (x − mean)·rstd·weight + bias by channel, biased variance; y may be x. weight and bias have
/// `channels` entries of float.
template <typename T>
void group_normalize(const T* x, T* y, int64_t rows, int64_t channels, int64_t groups,
                     const Moments* moments, const float* weight, const float* bias, double eps);

}  // namespace intarsia::kernels
