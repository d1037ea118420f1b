#pragma once
#include <intarsia/picture.h>

#include <functional>
#include <memory>
#include <string_view>

namespace intarsia::io {

enum class Inks { kGrey, kRgb, kCmyk };

inline int count_of(Inks inks) { return inks == Inks::kGrey ? 1 : inks == Inks::kRgb ? 3 : 4; }

/// What a file says before its first pixel.
struct PictureHeader {
  PictureInfo info;  ///< width and height as stored, before the orientation is applied
  Inks inks = Inks::kRgb;
  bool alpha = false;  ///< a last channel after the inks
  int bits = 8;        ///< of the samples that read_rows() gives: 8 or 16
  std::string icc;     ///< the profile's bytes
  std::vector<std::string> notes;
};

/// Takes row y's samples, interleaved: bytes, or native 16-bit numbers. CMYK has Adobe's polarity
/// (255 is no ink).
using TakeRow = std::function<void(int64_t y, const uint8_t* samples)>;

/// An open file of one format. The bytes must outlive it.
class PictureReader {
 public:
  PictureReader() = default;
  virtual ~PictureReader() = default;
  PictureReader(const PictureReader&) = delete;
  PictureReader& operator=(const PictureReader&) = delete;

  const PictureHeader& header() const { return header_; }
  /// Every row once, from the top; then the rest of the file is checked. Call it once. Throws
  /// std::invalid_argument naming the file if it is truncated or broken anywhere.
  virtual void read_rows(const TakeRow& take) = 0;

 protected:
  PictureHeader header_;
};

/// Both read the header and no more; `name` is for messages.
std::unique_ptr<PictureReader> open_png(std::string_view bytes, const std::string& name);
std::unique_ptr<PictureReader> open_jpeg(std::string_view bytes, const std::string& name);

/// The bytes of a file; `pixels` are uint8 or int32 (0…65535: a 16 bit file), [H, W, 1 or 3].
std::string encode_png(const at::Tensor& pixels);
std::string encode_jpeg(const at::Tensor& pixels, int quality);

}  // namespace intarsia::io
