#pragma once
#include <ATen/core/Tensor.h>

namespace intarsia::nn {

/// Rotates the halves of each head: x·cos + (−second half, first half)·sin, in float32, back in the
/// dtype of x. x: [tokens, heads, width]; cos, sin: float32 [tokens, width].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace intarsia::nn
