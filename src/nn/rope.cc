#include "nn/rope.h"

#include "aten.h"

namespace intarsia::nn {

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t half = x.size(-1) / 2;
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor turned = at::cat({wide.slice(-1, half).neg(), wide.slice(-1, 0, half)}, -1);
  return (wide * cos.unsqueeze(1)).add_(turned.mul_(sin.unsqueeze(1))).to(x.scalar_type());
}

}  // namespace intarsia::nn
