#pragma once
#include <intarsia/picture.h>

#include "aten.h"

namespace intarsia::io {

/// uint8 [H, W, 3]: the high byte where there are 16 bits, as Pillow opens such colour pictures.
inline at::Tensor eight_bits(const Picture& picture) {
  if (picture.bits == 8) return picture.pixels;
  return picture.pixels.bitwise_right_shift(8).to(at::kByte);
}

}  // namespace intarsia::io
