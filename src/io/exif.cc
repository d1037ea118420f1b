#include "io/exif.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace intarsia::io {
namespace {

// Numbers at offsets, in the byte order that the block declares.
struct Tiff {
  std::string_view bytes;
  bool little = false;

  std::optional<uint32_t> number(uint64_t at, uint64_t size) const {
    if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
    uint32_t value = 0;
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t from = little ? at + size - 1 - i : at + i;
      value = value << 8 | static_cast<unsigned char>(bytes[from]);
    }
    return value;
  }
};

// A directory entry: tag, type, count, and 4 bytes that hold the value if it fits.
constexpr uint64_t kEntryBytes = 12;
constexpr uint32_t kOrientationTag = 0x0112;

uint64_t size_of_type(uint32_t type) {
  switch (type) {
    case 1:
      return 1;  // BYTE
    case 3:
      return 2;  // SHORT
    case 4:
      return 4;  // LONG
    default:
      return 0;
  }
}

}  // namespace

int exif_orientation(std::string_view bytes) {
  Tiff tiff{bytes};
  if (bytes.starts_with("II*")) {
    tiff.little = true;
  } else if (!bytes.starts_with(std::string_view("MM\0*", 4))) {
    return 1;
  }
  const auto directory = tiff.number(4, 4);
  const auto entries = directory ? tiff.number(*directory, 2) : std::nullopt;
  for (uint64_t i = 0; i < entries.value_or(0); ++i) {
    const uint64_t entry = *directory + 2 + i * kEntryBytes;
    const auto tag = tiff.number(entry, 2);
    const auto type = tiff.number(entry + 2, 2);
    if (!tag || !type) return 1;
    if (*tag != kOrientationTag) continue;
    const uint64_t size = size_of_type(*type);
    const auto value = size > 0 ? tiff.number(entry + 8, size) : std::nullopt;
    return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
  }
  return 1;
}

}  // namespace intarsia::io
