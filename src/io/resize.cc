#include "io/resize.h"

#include <ATen/Parallel.h>

#include "aten.h"
#include "check.h"
#include "kernels/resample.h"

namespace intarsia::io {
namespace {

constexpr int64_t kLongest = int64_t{1} << 20;
constexpr int64_t kGrain = 16;  // rows: a multiple of the 4 that are done at once

void check_resize(const at::Tensor& rgb, int64_t height, int64_t width) {
  check(rgb.defined() && rgb.scalar_type() == at::kByte && rgb.dim() == 3 && rgb.size(2) == 3,
        "cannot resize a tensor that is not uint8 [H, W, 3]");
  const auto fits = [](int64_t side) { return side >= 1 && side <= kLongest; };
  check(fits(rgb.size(0)) && fits(rgb.size(1)) && fits(height) && fits(width), "cannot resize ",
        rgb.size(1), "x", rgb.size(0), " pixels to ", width, "x", height, "; sides are from 1 to ",
        kLongest);
}

at::Tensor resize_columns(const at::Tensor& in, int64_t width) {
  const kernels::Taps taps = kernels::bicubic_taps(in.size(1), width);
  at::Tensor out = at::empty({in.size(0), width, 3}, at::kByte);
  const uint8_t* from = in.const_data_ptr<uint8_t>();
  auto* to = out.data_ptr<uint8_t>();
  at::parallel_for(0, in.size(0), kGrain, [&](int64_t begin, int64_t end) {
    kernels::resample_along_rows(from + begin * taps.in * 3, from + in.numel(), end - begin, taps,
                                 to + begin * width * 3);
  });
  return out;
}

at::Tensor resize_rows(const at::Tensor& in, int64_t height) {
  const kernels::Taps taps = kernels::bicubic_taps(in.size(0), height);
  const int64_t bytes = in.size(1) * 3;
  at::Tensor out = at::empty({height, in.size(1), 3}, at::kByte);
  const uint8_t* from = in.const_data_ptr<uint8_t>();
  auto* to = out.data_ptr<uint8_t>();
  at::parallel_for(0, height, kGrain, [&](int64_t begin, int64_t end) {
    kernels::resample_across_rows(from, bytes, taps, begin, end, to + begin * bytes);
  });
  return out;
}

// Measured on Pillow 13.0: the pass whose axis loses more pixels goes first, with rows counting
// half. The passes round to bytes, so that the order shows.
bool rows_go_first(const at::Tensor& in, int64_t height, int64_t width, Resizer resizer) {
  return resizer == Resizer::kPillow && height < in.size(0) &&
         in.size(0) - height > 2 * (in.size(1) - width);
}

at::Tensor resize_as_pillow(at::Tensor pixels, int64_t height, int64_t width, Resizer resizer) {
  // An axis that keeps its size has no pass.
  const bool rows = pixels.size(0) != height, columns = pixels.size(1) != width;
  const bool rows_first = rows_go_first(pixels, height, width, resizer);
  if (rows && rows_first) pixels = resize_rows(pixels, height);
  if (columns) pixels = resize_columns(pixels, width);
  if (rows && !rows_first) pixels = resize_rows(pixels, height);
  return pixels;
}

at::Tensor resize_as_torchvision(const at::Tensor& pixels, int64_t height, int64_t width) {
  const at::Tensor planes = pixels.permute({2, 0, 1}).unsqueeze(0);
  const at::Tensor out = at::_upsample_bicubic2d_aa(planes, {height, width}, false);
  return out.squeeze(0).permute({1, 2, 0}).contiguous();
}

}  // namespace

at::Tensor resize(const at::Tensor& rgb, int64_t height, int64_t width, Resizer resizer) {
  check_resize(rgb, height, width);
  const at::Tensor pixels = rgb.contiguous();
  return resizer == Resizer::kTorchvision ? resize_as_torchvision(pixels, height, width)
                                          : resize_as_pillow(pixels, height, width, resizer);
}

}  // namespace intarsia::io
