#pragma once
#include "aten.h"
#include "io/icc.h"
#include "io/picture_reader.h"

namespace intarsia::io {

/// Makes RGB of a reader's rows: a profile is converted to sRGB, grey is repeated, CMYK converted,
/// alpha laid on white. Adds to `notes` what it will do.
class RowsToRgb {
 public:
  RowsToRgb(const PictureHeader& header, std::vector<std::string>& notes);

  /// to: room for 3 * width values; int32_t where header.bits is 16, else uint8_t.
  void row(const uint8_t* samples, uint8_t* to);
  void row(const uint8_t* samples, int32_t* to);

 private:
  template <class Sample, class Value>
  void convert(const uint8_t* samples, Value* to);

  Inks inks_;
  bool alpha_;
  int64_t width_;
  std::unique_ptr<ToSrgb> profile_;
  std::vector<uint8_t> converted_;  ///< a row of RGB samples out of profile_
};

/// [H, W, C] as stored to how it is shown: EXIF's orientation 1…8.
at::Tensor oriented(const at::Tensor& pixels, int orientation);

}  // namespace intarsia::io
