#pragma once
#include <ATen/core/Tensor.h>

namespace intarsia::nn {

/// Statistics in double, applied in float32, whatever the dtype of x. weight and bias: float32 [C].
struct GroupNorm {
  at::Tensor weight;
  at::Tensor bias;
  int64_t groups = 32;
  double eps = 1e-6;
};

/// x: [N, C, H, W]. A new tensor of the same layout.
at::Tensor group_norm(const at::Tensor& x, const GroupNorm& norm);

/// silu(group_norm(x)).
at::Tensor norm_silu(const at::Tensor& x, const GroupNorm& norm);

/// The same, over x's own memory: the caller must be the only owner of x. Returns x.
at::Tensor norm_silu_(at::Tensor x, const GroupNorm& norm);

}  // namespace intarsia::nn
