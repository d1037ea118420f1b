#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/plan.h>

#include <span>

namespace intarsia::nn {

/// Attention of tokens to those of their own segment, without a mask and without a tokens × tokens
/// matrix. q: [n, heads, width], the tokens `first` … first+n−1 of k and v: [m, heads, width].
/// segments: ascending, disjoint ranges of the m tokens. Tokens of no segment get zeros, and are
/// seen by nobody. Returns [n, heads, width].
at::Tensor segment_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             std::span<const Range> segments, int64_t first = 0);

}  // namespace intarsia::nn
