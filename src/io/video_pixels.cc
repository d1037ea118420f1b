#include "io/video_pixels.h"

#include <cstdlib>

#include "aten.h"
#include "check.h"

namespace intarsia::io {
namespace {

constexpr int kUnit = 1 << 16;  // swscale's 1 for contrast and saturation

AVPixelFormat format_of(const AVFrame& frame) { return static_cast<AVPixelFormat>(frame.format); }

// Formats whose name alone says full range; others are limited unless the file says otherwise.
bool is_full_by_format(AVPixelFormat format, const AVPixFmtDescriptor& description) {
  const bool grey = description.nb_components <= 2;
  const bool rgb = (description.flags & AV_PIX_FMT_FLAG_RGB) != 0;
  return grey || rgb || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P ||
         format == AV_PIX_FMT_YUVJ444P || format == AV_PIX_FMT_YUVJ440P ||
         format == AV_PIX_FMT_YUVJ411P;
}

bool has_alpha(const AVPixFmtDescriptor& description) {
  return (description.flags & (AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_PAL)) != 0;
}

at::Tensor on_white(const at::Tensor& rgba) {
  at::Tensor rgb = at::empty({rgba.size(0), rgba.size(1), 3}, at::kByte);
  const auto* from = rgba.const_data_ptr<uint8_t>();
  auto* to = rgb.data_ptr<uint8_t>();
  const int64_t pixels = rgba.size(0) * rgba.size(1);
  for (int64_t i = 0; i < pixels; ++i, from += 4, to += 3) {
    const int alpha = from[3];
    for (int c = 0; c < 3; ++c)
      to[c] = static_cast<uint8_t>((from[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
  return rgb;
}

}  // namespace

Turn turn_of(const int32_t* matrix) {
  Turn turn;
  if (matrix == nullptr) return turn;
  // x' = a·x + c·y, y' = b·x + d·y
  const int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  turn.transposed = std::abs(b) + std::abs(c) > std::abs(a) + std::abs(d);
  turn.left_right = (turn.transposed ? c : a) < 0;
  turn.up_down = (turn.transposed ? b : d) < 0;
  return turn;
}

at::Tensor turned(const at::Tensor& rgb, const Turn& turn) {
  at::Tensor out = turn.transposed ? rgb.transpose(0, 1) : rgb;
  if (turn.left_right) out = out.flip(1);
  if (turn.up_down) out = out.flip(0);
  return out.contiguous();
}

at::Tensor PixelConverter::rgb_of(const AVFrame& frame, const std::string& name) {
  const AVPixelFormat format = format_of(frame);
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(format);
  check(description != nullptr && sws_isSupportedInput(format) != 0, name,
        " has frames of a pixel format that cannot be converted to RGB");
  const int channels = has_alpha(*description) ? 4 : 3;
  // The bits that PyAV and others give, and so transformers gets. Chroma is not interpolated.
  constexpr int kFlags = SWS_BILINEAR;
  const auto wanted = channels == 4 ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24;
  scaler_.reset(sws_getCachedContext(scaler_.release(), frame.width, frame.height, format,
                                     static_cast<int>(width_), static_cast<int>(height_), wanted,
                                     kFlags, nullptr, nullptr, nullptr));
  check(scaler_ != nullptr, name, ": its frames of ", description->name,
        " cannot be converted to RGB");
  const bool full =
      frame.color_range == AVCOL_RANGE_JPEG ||
      (frame.color_range == AVCOL_RANGE_UNSPECIFIED && is_full_by_format(format, *description));
  sws_setColorspaceDetails(scaler_.get(), sws_getCoefficients(frame.colorspace), full ? 1 : 0,
                           sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, kUnit, kUnit);
  // swscale writes whole vectors, beyond a row's end.
  const int64_t stride = (width_ * channels + 63) / 64 * 64 + 64;
  const at::Tensor rows = at::empty({height_, stride}, at::kByte);
  uint8_t* const planes[] = {rows.data_ptr<uint8_t>()};
  const int strides[] = {static_cast<int>(stride)};
  sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, planes, strides);
  const at::Tensor pixels =
      rows.as_strided({height_, width_, channels}, {stride, channels, 1}).contiguous();
  return channels == 4 ? on_white(pixels) : pixels;
}

}  // namespace intarsia::io
