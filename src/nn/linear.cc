#include "nn/linear.h"

#include "aten.h"

namespace intarsia::nn {

at::Tensor linear(const at::Tensor& x, const Linear& l) { return at::linear(x, l.weight, l.bias); }

at::Tensor row_linear(const at::Tensor& x, const Linear& l, const Group& group) {
  if (group.size() == 1) return linear(x, l);  // the bias inside the product, as one rank rounds it
  at::Tensor y = group.all_reduce(at::linear(x, l.weight));
  return l.bias.defined() ? y.add_(l.bias) : y;
}

}  // namespace intarsia::nn
