#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

// How far two tensors or pictures are apart.
namespace intarsia {

struct Difference {
  double largest = 0;          ///< of |a − b|
  double mean = 0;             ///< of |a − b|
  double rmse = 0;             ///< √ of the mean of (a − b)²
  double psnr = 0;             ///< dB against the peak; infinite where a equals b
  std::vector<int64_t> where;  ///< index of the (first) largest; empty where there is no element
  int64_t unequal = 0;         ///< elements with a ≠ b; NaN equals NaN
  int64_t count = 0;           ///< elements
  bool bit_equal = false;      ///< same dtype and the same bits everywhere
  int64_t non_finite = 0;      ///< elements that are NaN or infinite in a or in b
};

/// Of two tensors of one shape and any dtypes, computed in float64. NaN beside NaN and an infinity
/// beside the same are no difference; if just one side is NaN or infinite (or the signs differ) the
/// difference is infinite, and with it `largest`, `mean` and `rmse`. Complex numbers count as two
/// elements along a last axis. peak: the largest value that a signal can have (255 for 8 bit
/// pictures, 2 for −1…1). Throws std::invalid_argument if shapes differ (naming both), a tensor is
/// undefined or not dense, or peak is not above 0.
Difference compare(const at::Tensor& a, const at::Tensor& b, double peak);

/// Structural similarity of two pictures [H, W, C] or [H, W], mean over channels (Wang et al. 2004:
/// Gaussian window 11×11, σ 1.5, K 0.01 and 0.03, population covariance, only windows that lie
/// inside the picture). Pictures with a side below 11 use the largest odd window that fits.
/// Throws std::invalid_argument as compare() does, and if there is no pixel.
double ssim(const at::Tensor& a, const at::Tensor& b, double peak);

/// The mean step |p[i+1] − p[i]| across the borders between rows (columns) i and i+1, over the mean
/// of the steps 2 and 3 to either side of them: 1 is no seam. pixels: [H, W, C] or [H, W]; rows,
/// cols: where the second tile of each border begins (96 for a border between 95 and 96). Borders
/// that have fewer than 4 pixels on a side are left out; NaN if none is left. Infinite if only the
/// borders have steps, 1 if there is no step at all.
double seam_figure(const at::Tensor& pixels, const std::vector<int64_t>& rows,
                   const std::vector<int64_t>& cols);

}  // namespace intarsia
