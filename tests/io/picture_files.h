#pragma once
#include <intarsia/picture.h>
#include <zlib.h>

#include <string>

#include "io/files.h"

namespace intarsia::test {

inline std::filesystem::path picture_data(const std::string& name) {
  return std::filesystem::path(INTARSIA_TEST_DATA) / "pictures" / name;
}

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

inline std::string png_chunk(const std::string& kind, const std::string& data) {
  const std::string body = kind + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body +
         big_endian(static_cast<uint32_t>(sum));
}

/// A PNG of 8 bit RGB with any extents in its header and `data` as compressed pixels.
inline std::string png_claiming(uint32_t width, uint32_t height, const std::string& data,
                                bool interlaced = false) {
  const std::string header = big_endian(width) + big_endian(height) +
                             std::string("\x08\x02\0\0", 4) + static_cast<char>(interlaced ? 1 : 0);
  return std::string("\x89PNG\r\n\x1a\n") + png_chunk("IHDR", header) + png_chunk("IDAT", data) +
         png_chunk("IEND", "");
}

/// Smooth pixels with channels that differ.
inline at::Tensor gradient(int64_t height, int64_t width, int64_t peak = 255) {
  const auto y = at::arange(height, at::kDouble).view({-1, 1, 1}) / 17;
  const auto x = at::arange(width, at::kDouble).view({1, -1, 1}) / 11;
  const auto c = at::arange(3, at::kDouble);
  return ((x + c).sin() * (y - c).cos() * 0.49 + 0.5)
      .mul(static_cast<double>(peak))
      .round()
      .to(peak > 255 ? at::kInt : at::kByte);
}

}  // namespace intarsia::test
