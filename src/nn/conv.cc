#include "nn/conv.h"

#include "aten.h"

namespace intarsia::nn {

at::Tensor conv2d(const at::Tensor& x, const Conv2d& conv) {
  const int64_t pad = conv.weight.size(2) / 2;
  return at::conv2d(x, conv.weight, conv.bias, at::IntArrayRef{1, 1}, at::IntArrayRef{pad, pad});
}

at::Tensor downsample(at::Tensor x, const Conv2d& conv) {
  x = at::constant_pad_nd(x, {0, 1, 0, 1});
  return at::conv2d(x, conv.weight, conv.bias, at::IntArrayRef{2, 2}, at::IntArrayRef{0, 0});
}

at::Tensor upsample(at::Tensor x, const Conv2d& conv) {
  x = at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
  return conv2d(x, conv);
}

}  // namespace intarsia::nn
