#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/picture_reader.h"

namespace intarsia::io {

/// Converts rows from a picture's own colours to sRGB.
class ToSrgb {
 public:
  virtual ~ToSrgb() = default;
  /// samples: `width` pixels as PictureReader gives them; rgb: room for 3 samples of the same depth
  /// a pixel. Alpha is passed over.
  virtual void row(const uint8_t* samples, uint8_t* rgb, int64_t width) const = 0;
};

/// The conversion that header.icc asks for. Null if there is no profile, if it is sRGB, and, with a
/// note, if it is broken, does not fit the picture, or this build has no lcms2.
std::unique_ptr<ToSrgb> to_srgb(const PictureHeader& header, std::vector<std::string>& notes);

}  // namespace intarsia::io
