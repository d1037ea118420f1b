#include "nn/norm.h"

#include <vector>

#include "aten.h"
#include "kernels/group_norm.h"

namespace intarsia::nn {
namespace {

template <typename T>
void normalize(const at::Tensor& x, at::Tensor& y, const GroupNorm& norm) {
  const int64_t channels = x.size(1);
  const int64_t rows = x.size(2) * x.size(3);
  std::vector<kernels::Moments> moments(norm.groups);
  for (int64_t n = 0; n < x.size(0); ++n) {
    const T* in = x.const_data_ptr<T>() + n * rows * channels;
    T* out = y.mutable_data_ptr<T>() + n * rows * channels;
    kernels::group_moments(in, rows, channels, norm.groups, moments.data());
    kernels::group_normalize(in, out, rows, channels, norm.groups, moments.data(),
                             norm.weight.const_data_ptr<float>(), norm.bias.const_data_ptr<float>(),
                             norm.eps);
  }
}

/// Whether the kernel can read x: on the CPU, channels innermost, pictures one after the other.
bool has_kernel(const at::Tensor& x) {
  return x.is_cpu() && x.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         (x.scalar_type() == at::kFloat || at::isReducedFloatingType(x.scalar_type()));
}

/// Into y, which may be x. Both are channels-last.
void group_norm_out(const at::Tensor& x, at::Tensor& y, const GroupNorm& norm) {
  if (x.scalar_type() == at::kFloat) return normalize<float>(x, y, norm);
  if (x.scalar_type() == at::kBFloat16) return normalize<at::BFloat16>(x, y, norm);
  normalize<at::Half>(x, y, norm);
}

}  // namespace

at::Tensor group_norm(const at::Tensor& x, const GroupNorm& norm) {
  if (!has_kernel(x))
    return at::group_norm(x, norm.groups, norm.weight.to(x.scalar_type()),
                          norm.bias.to(x.scalar_type()), norm.eps);
  at::Tensor y = at::empty_like(x);
  group_norm_out(x, y, norm);
  return y;
}

at::Tensor norm_silu(const at::Tensor& x, const GroupNorm& norm) {
  at::Tensor y = group_norm(x, norm);
  return at::silu_(y);
}

at::Tensor norm_silu_(at::Tensor x, const GroupNorm& norm) {
  if (!has_kernel(x)) return norm_silu(x, norm);
  group_norm_out(x, x, norm);
  return at::silu_(x);
}

}  // namespace intarsia::nn
