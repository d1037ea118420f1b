#pragma once
#include <ATen/core/Tensor.h>

namespace intarsia::nn {

/// softmax(q·kᵀ/√width)·v in blocks: never a queries × keys matrix in memory; softmax in float32.
/// q: [N, queries, width], k, v: [N, keys, width]; one head. Returns [N, queries, width].
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

}  // namespace intarsia::nn
