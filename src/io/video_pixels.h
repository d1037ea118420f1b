#pragma once
#include <ATen/core/Tensor.h>

#include "io/ffmpeg.h"

namespace intarsia::io {

/// How the file says that its frames are turned and mirrored to be shown.
struct Turn {
  bool transposed = false;  ///< first, then:
  bool left_right = false;
  bool up_down = false;
};
/// matrix: 9 numbers of a display matrix, or null. Angles between the quarters are rounded.
Turn turn_of(const int32_t* matrix);
at::Tensor turned(const at::Tensor& rgb, const Turn& turn);

/// Makes RGB of decoded frames.
class PixelConverter {
 public:
  PixelConverter(int64_t width, int64_t height) : width_(width), height_(height) {}
  /// uint8 [height, width, 3]; alpha is laid on white. Throws std::invalid_argument naming `name`
  /// if the format is unknown.
  at::Tensor rgb_of(const AVFrame& frame, const std::string& name);

 private:
  int64_t width_;
  int64_t height_;
  Owned<SwsContext> scaler_;
};

}  // namespace intarsia::io
