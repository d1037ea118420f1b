#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

// How far two tensors or pictures are apart.
namespace intarsia {

struct Difference {
  double largest = 0;  ///< of |a − b|
  double mean = 0;     ///< of |a − b|
  double rmse = 0;
  double psnr = 0;             ///< dB against the peak; infinite where a equals b
  int64_t count = 0;           ///< elements
  int64_t unequal = 0;         ///< elements with a ≠ b; NaN equals NaN
  int64_t not_finite = 0;      ///< elements that are NaN or infinite on one side only
  std::vector<int64_t> where;  ///< index of the largest; empty where there is no element
};

/// Computed in float64. Elements that are NaN or infinite on one side only make `largest` infinite;
/// equal ones (NaN and NaN too) count as no difference. peak: the largest value a signal can have
/// (255 for 8 bit pictures, 2 for −1…1). Throws std::invalid_argument if shapes differ (naming
/// both) or a tensor is complex.
Difference compare(const at::Tensor& a, const at::Tensor& b, double peak);

/// Structural similarity of two pictures [H, W, C] or [H, W], mean over channels (Wang et al. 2004:
/// Gaussian window 11×11, σ 1.5, K 0.01 and 0.03, population covariance, only windows inside the
/// picture). Pictures smaller than 11 pixels use the largest odd window that fits.
double ssim(const at::Tensor& a, const at::Tensor& b, double peak);

/// The mean step |p[i+1] − p[i]| across the borders between rows (columns) i and i+1, over the mean
/// of the steps 2 and 3 beside them: 1 is no seam. pixels: [H, W, C]; rows, cols: where the second
/// tile of each border begins (row 96 for a border between rows 95 and 96). Borders too near to an
/// edge are left out. NaN if none is left.
double seam_figure(const at::Tensor& pixels, const std::vector<int64_t>& rows,
                   const std::vector<int64_t>& cols);

}  // namespace intarsia
