#include "nn/attention.h"

#include "aten.h"

namespace intarsia::nn {

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const auto head = [](const at::Tensor& x) { return x.unsqueeze(1); };
  return at::scaled_dot_product_attention(head(q), head(k), head(v)).squeeze(1);
}

}  // namespace intarsia::nn
