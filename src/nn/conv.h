#pragma once
#include <ATen/core/Tensor.h>

namespace intarsia::nn {

/// weight: [out, in, k, k], channels-last; bias: [out].
struct Conv2d {
  at::Tensor weight;
  at::Tensor bias;
};

/// Stride 1, padded so that the size stays: k = 1 or 3. x: [N, C, H, W] channels-last.
at::Tensor conv2d(const at::Tensor& x, const Conv2d& conv);

/// Halves height and width (floor): one zero row below and column right, 3×3, stride 2.
at::Tensor downsample(at::Tensor x, const Conv2d& conv);

/// Doubles height and width: nearest neighbour, then 3×3. x is freed before the convolution.
at::Tensor upsample(at::Tensor x, const Conv2d& conv);

}  // namespace intarsia::nn
