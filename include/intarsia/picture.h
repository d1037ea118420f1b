#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace intarsia {

struct PictureInfo {
  std::string format;  ///< "png" or "jpeg"
  int64_t width = 0;   ///< as shown: EXIF orientation applied
  int64_t height = 0;
  int bits = 8;      ///< bits a channel in the file (1, 2, 4, 8, 16)
  int channels = 3;  ///< channels in the file (1 grey, 2 grey+alpha, 3, 4)
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

/// PNG or JPEG by content. Grey and palette become RGB, alpha is laid on white, EXIF orientation
/// applied; CMYK is converted, and a profile that is not sRGB is converted or ignored with a note.
/// Throws std::invalid_argument naming file and fault (truncated, too large, not a picture).
Picture read_picture(const std::filesystem::path& path, const PictureLimits& limits = {});

struct WriteOptions {
  int jpeg_quality = 95;  ///< 1…100, 4:4:4 from 90 up
  int bits = 8;           ///< PNG: 8 or 16
};

/// pixels: [H, W, 3] or [H, W, 1] or [H, W]; uint8, or int32 0…65535 for 16 bits. The extension
/// (.png, .jpg, .jpeg) decides. Whole or not at all.
void write_picture(const std::filesystem::path& path, const at::Tensor& pixels,
                   const WriteOptions& options = {});

}  // namespace intarsia
