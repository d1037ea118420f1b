#include "io/exif.h"

#include <gtest/gtest.h>

#include <string>

namespace intarsia::test {
namespace {

using io::exif_orientation;

// One directory with one entry; `type` and `value` as EXIF stores them, little-endian.
std::string block(const std::string& type, const std::string& value,
                  const std::string& tag = "\x12\x01") {
  return std::string("II*\0\x08\0\0\0\x01\0", 10) + tag + type + std::string("\x01\0\0\0", 4) +
         value + std::string(4, '\0');
}

const std::string kByte("\x01\0", 2), kShort("\x03\0", 2), kLong("\x04\0", 2), kText("\x02\0", 2);
const std::string kSix("\x06\0\0\0", 4);

TEST(Exif, OrientationIsReadInBothByteOrders) {
  for (const std::string& type : {kByte, kShort, kLong})
    EXPECT_EQ(exif_orientation(block(type, kSix)), 6);
  const std::string big("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x05\0\0\0\0\0\0", 26);
  EXPECT_EQ(exif_orientation(big), 5);
}

TEST(Exif, WhatIsNoOrientationIsUpright) {
  EXPECT_EQ(exif_orientation(""), 1);
  EXPECT_EQ(exif_orientation("a text that is no TIFF header"), 1);
  EXPECT_EQ(exif_orientation(block(kText, kSix)), 1);
  EXPECT_EQ(exif_orientation(block(kShort, std::string(4, '\0'))), 1);
  EXPECT_EQ(exif_orientation(block(kShort, std::string("\x09\0\0\0", 4))), 1);
  EXPECT_EQ(exif_orientation(block(kShort, kSix, "\x13\x01")), 1);
}

TEST(Exif, CutAndWildBlocksAreUprightOrRead) {
  const std::string whole = block(kShort, kSix);
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(exif_orientation(whole.substr(0, length)), length < 20 ? 1 : 6) << length;
  std::string wild = whole;
  wild.replace(4, 4, "\xff\xff\xff\xff");  // the directory lies beyond the end
  EXPECT_EQ(exif_orientation(wild), 1);
}

}  // namespace
}  // namespace intarsia::test
