#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/group.h>

namespace intarsia::nn {

/// weight: [out, in], or a part of it; bias: [out] of that part, or undefined.
struct Linear {
  at::Tensor weight;
  at::Tensor bias;
};

/// x·Wᵀ + b. Where W holds a rank's rows (column parallel), the result is the rank's columns.
at::Tensor linear(const at::Tensor& x, const Linear& l);

/// Row parallel: x and W hold a rank's part of the inner axis. Sums the ranks' products, then adds
/// the whole bias once.
at::Tensor row_linear(const at::Tensor& x, const Linear& l, const Group& group);

}  // namespace intarsia::nn
