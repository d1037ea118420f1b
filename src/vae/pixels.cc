#include <intarsia/vae.h>

#include "aten.h"
#include "check.h"

namespace intarsia::vae {
namespace {

double peak(int bits) {
  check(bits == 8 || bits == 16, "pictures have 8 or 16 bits a channel, not ", bits);
  return bits == 8 ? 255.0 : 65535.0;
}

}  // namespace

at::Tensor to_pixels(const at::Tensor& sample, int64_t index, int bits, bool exact) {
  check(sample.dim() == 4 && sample.size(1) == 3, "a picture has the shape [batch, 3, H, W], not ",
        sample.sizes());
  check(index >= 0 && index < sample.size(0), "picture ", index, " of ", sample.size(0));
  at::Tensor x = sample[index];
  if (!exact) x = x.to(at::kFloat);
  x = (x * 0.5 + 0.5).clamp_(0, 1).to(at::kFloat);
  x = x.permute({1, 2, 0}).mul(peak(bits)).round_();  // at::round: half to even
  return x.to(bits == 8 ? at::kByte : at::kInt).contiguous();
}

at::Tensor from_pixels(const at::Tensor& pixels, int bits) {
  check(pixels.dim() == 3 && pixels.size(2) == 3, "a picture has the shape [H, W, 3], not ",
        pixels.sizes());
  const at::Tensor x = pixels.to(at::kFloat).div_(peak(bits)).mul_(2).sub_(1);
  return x.permute({2, 0, 1}).unsqueeze(0).contiguous();
}

}  // namespace intarsia::vae
