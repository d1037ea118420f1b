#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace intarsia {

struct PictureInfo {
  std::string format;  ///< "png" or "jpeg"
  int64_t width = 0;   ///< as shown: EXIF's orientation applied
  int64_t height = 0;
  int bits = 8;      ///< bits a channel in the file (1, 2, 4, 8, 16)
  int channels = 3;  ///< in the file: 1 grey, 2 grey and alpha, 3 (also palettes), 4
  bool palette = false;
  int orientation = 1;  ///< EXIF, 1…8
  bool has_icc = false;
};

struct Picture {
  at::Tensor pixels;  ///< RGB [height, width, 3]: uint8, or int32 in 0…65535 if bits is 16
  int bits = 8;       ///< 8 or 16
  std::vector<std::string> notes;  ///< what was done to it, in words (alpha on white, CMYK, …)
};

struct PictureLimits {
  int64_t max_pixels = 268'435'456;  ///< width × height above this is refused from the header alone
};

/// True if the file begins as a PNG or JPEG does; throws if it cannot be read.
bool is_picture(const std::filesystem::path& path);

/// From the header only; no pixel is decoded.
PictureInfo read_picture_info(const std::filesystem::path& path);

/// PNG or JPEG by content. Grey and palette become RGB, alpha is laid on white, EXIF's orientation
/// is applied; CMYK (in Adobe's polarity, as all programs write it) is converted, and so is a
/// profile that is not sRGB; a broken one is ignored. `notes` tells of alpha, CMYK and profiles.
/// gAMA is ignored. Throws std::invalid_argument naming file and fault: truncated or corrupt
/// anywhere, too large, not a picture.
Picture read_picture(const std::filesystem::path& path, const PictureLimits& limits = {});

struct WriteOptions {
  int jpeg_quality = 95;  ///< 1…100, 4:4:4 from 90 up
  int bits = 8;           ///< PNG: 8 or 16
};

/// pixels: [H, W, 3], [H, W, 1] or [H, W]; uint8 where `bits` is 8, int32 in 0…65535 where it is
/// 16. The extension (.png, .jpg, .jpeg) decides. Whole or not at all. PNGs are compressed fast
/// (deflate level 2, the filter Up). Throws std::invalid_argument if shape, dtype, range, extension
/// or options do not fit, or the file cannot be written.
void write_picture(const std::filesystem::path& path, const at::Tensor& pixels,
                   const WriteOptions& options = {});

}  // namespace intarsia
