#include <intarsia/picture.h>
#include <intarsia/tensor_file.h>

#include <map>

#include "io/picture_files.h"

namespace intarsia::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Picture read(const std::string& name) { return read_picture(picture_data(name)); }

at::Tensor expected(const std::string& name) {
  return read_tensor(picture_data(name + ".npy")).tensor;
}

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(picture_data("")))
    if (entry.path().extension() == ".png" || entry.path().extension() == ".jpg")
      names.push_back(entry.path().filename().string());
  return names;
}

// What another version of lcms2 may round differently.
bool is_converted(const std::string& name) {
  return name.starts_with("swapped") || name == "grey_profile.png";
}

TEST(Picture, EveryKindIsReadAsPillowReadsIt) {
  EXPECT_GT(fixtures().size(), 45);
  for (const std::string& name : fixtures()) {
    const Picture picture = read(name);
    if (is_converted(name)) continue;
    EXPECT_TENSOR_EQ(picture.pixels, expected(name))
        << name << ": " << max_difference(picture.pixels, expected(name));
    EXPECT_TRUE(picture.pixels.is_contiguous()) << name;
  }
}

TEST(Picture, SixteenBitsAreKept) {
  for (const std::string name : {"rgb16.png", "grey16.png", "rgba16.png", "rgb16_interlaced.png"}) {
    EXPECT_EQ(read(name).bits, 16) << name;
    EXPECT_EQ(read(name).pixels.scalar_type(), at::kInt) << name;
  }
  EXPECT_EQ(read("rgb.png").bits, 8);
}

TEST(Picture, InfoIsReadFromTheHeaderAndAgreesWithThePixels) {
  for (const std::string& name : fixtures()) {
    const PictureInfo info = read_picture_info(picture_data(name));
    const at::Tensor pixels = read(name).pixels;
    EXPECT_EQ(info.height, pixels.size(0)) << name;
    EXPECT_EQ(info.width, pixels.size(1)) << name;
    EXPECT_EQ(info.format, name.ends_with(".png") ? "png" : "jpeg") << name;
  }
  const auto info = [](const std::string& name) { return read_picture_info(picture_data(name)); };
  EXPECT_EQ(info("turned7.jpg").orientation, 7);
  EXPECT_EQ(info("turned8_behind.png").orientation, 8);
  EXPECT_EQ(info("grey2.png").bits, 2);
  EXPECT_EQ(info("grey_alpha.png").channels, 2);
  EXPECT_EQ(info("rgba16.png").bits, 16);
  EXPECT_EQ(info("cmyk.jpg").channels, 4);
  EXPECT_TRUE(info("palette.png").palette);
  EXPECT_EQ(info("palette.png").bits, 4);
  EXPECT_TRUE(info("swapped.jpg").has_icc);
  EXPECT_TRUE(info("srgb.jpg").has_icc);
  EXPECT_FALSE(info("rgb.jpg").has_icc);
}

TEST(Picture, WhatWasDoneToItIsNoted) {
  for (const std::string name : {"rgb.png", "420.jpg", "turned3.jpg", "palette.png"})
    EXPECT_THAT(read(name).notes, IsEmpty()) << name;
  for (const std::string name : {"rgba.png", "rgb_trns.png", "palette_trns.png", "grey_alpha.png"})
    EXPECT_THAT(read(name).notes, ElementsAre("its alpha was laid on white")) << name;
  for (const std::string name : {"cmyk.jpg", "ycck.jpg"})
    EXPECT_THAT(read(name).notes, ElementsAre("CMYK was converted to RGB")) << name;
  for (const std::string name : {"broken_profile.jpg", "broken_profile.png", "other_inks.jpg"})
    EXPECT_THAT(read(name).notes, ElementsAre(HasSubstr("ignored"))) << name;
}

#ifdef INTARSIA_HAS_LCMS
TEST(Picture, ProfilesAreConvertedToSrgb) {
  for (const std::string name : {"swapped.jpg", "swapped_alpha.png", "grey_profile.png"}) {
    EXPECT_LE(max_difference(read(name).pixels, expected(name)), 1) << name;
    EXPECT_THAT(read(name).notes, Contains(HasSubstr("was converted to sRGB"))) << name;
  }
  EXPECT_THAT(read("swapped.jpg").notes, ElementsAre(HasSubstr("'Test RGB'")));
  EXPECT_THAT(read("srgb.jpg").notes, IsEmpty());
}
#else
TEST(Picture, ProfilesAreIgnoredWithoutLcms) {
  for (const std::string name : {"swapped.jpg", "srgb.jpg", "grey_profile.png"})
    EXPECT_THAT(read(name).notes, Contains(HasSubstr("no lcms2"))) << name;
}
#endif

TEST(Picture, WrittenPngsComeBackBitForBit) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.PNG";
  for (const int bits : {8, 16}) {
    for (const auto& [height, width] : {std::pair{1, 1}, {5, 7}, {64, 33}}) {
      const at::Tensor pixels = gradient(height, width, bits == 8 ? 255 : 65535);
      write_picture(path, pixels, {.bits = bits});
      EXPECT_TENSOR_EQ(read_picture(path).pixels, pixels);
      EXPECT_EQ(read_picture_info(path).bits, bits);
      const at::Tensor grey = pixels.select(2, 1);  // not contiguous
      const at::Tensor grey_rgb = grey.unsqueeze(2).expand({-1, -1, 3}).contiguous();
      for (const at::Tensor& shaped : {grey, grey.unsqueeze(2)}) {
        write_picture(path, shaped, {.bits = bits});
        EXPECT_TENSOR_EQ(read_picture(path).pixels, grey_rgb);
        EXPECT_EQ(read_picture_info(path).channels, 1);
      }
    }
  }
}

TEST(Picture, WrittenJpegsAreNearAndKeepFullColourFromQuality90) {
  const TemporaryFolder folder;
  const at::Tensor pixels = gradient(64, 49);
  const auto written = [&](const std::string& name, int quality) {
    write_picture(folder.path / name, pixels, {.jpeg_quality = quality});
    return folder.path / name;
  };
  EXPECT_LE(max_difference(read_picture(written("a.jpg", 100)).pixels, pixels), 5);
  EXPECT_LE(max_difference(read_picture(written("b.jpeg", 90)).pixels, pixels), 12);
  EXPECT_EQ(read_picture_info(folder.path / "b.jpeg").format, "jpeg");
  // In the frame header: 3 components, the first one's sampling factors.
  const auto luma = [&](const std::filesystem::path& path) {
    const std::string bytes = read_bytes(path);
    return bytes.at(bytes.find("\xff\xc0") + 11);
  };
  EXPECT_EQ(luma(written("c.jpg", 90)), 0x11);
  EXPECT_EQ(luma(written("d.jpg", 89)), 0x22);
  write_picture(folder.path / "e.jpg", pixels.select(2, 0));
  EXPECT_EQ(read_picture_info(folder.path / "e.jpg").channels, 1);
}

TEST(Picture, TheContentDecidesNotTheExtension) {
  const TemporaryFolder folder;
  const auto path = write_bytes(folder.path / "x.jpg", read_bytes(picture_data("rgb.png")));
  EXPECT_EQ(read_picture_info(path).format, "png");
  EXPECT_TENSOR_EQ(read_picture(path).pixels, expected("rgb.png"));
}

}  // namespace
}  // namespace intarsia::test
