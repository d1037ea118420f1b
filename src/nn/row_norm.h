#pragma once
#include <ATen/core/Tensor.h>

namespace intarsia::nn {

/// Over the last axis. With a bias: LayerNorm. Without: RMSNorm (no mean is taken off).
struct RowNorm {
  at::Tensor weight;
  at::Tensor bias;  ///< undefined: RMSNorm
  double eps = 1e-6;
};

/// Statistics in float32, whatever the dtype of x.
at::Tensor row_norm(const at::Tensor& x, const RowNorm& norm);

}  // namespace intarsia::nn
