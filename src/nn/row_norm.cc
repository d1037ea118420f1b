#include "nn/row_norm.h"

#include "aten.h"

namespace intarsia::nn {

at::Tensor row_norm(const at::Tensor& x, const RowNorm& norm) {
  if (norm.bias.defined()) return at::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, norm.eps);
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scale = (wide.square().mean(-1, true) + norm.eps).rsqrt_();
  return (wide * scale).to(x.scalar_type()) * norm.weight;
}

}  // namespace intarsia::nn
