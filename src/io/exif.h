#pragma once
#include <string_view>

namespace intarsia::io {

/// The orientation (1…8) in the first directory of an EXIF block, which begins with its TIFF
/// header; 1 if there is none or the block is broken.
int exif_orientation(std::string_view tiff);

}  // namespace intarsia::io
