#include "io/picture_files.h"

namespace intarsia::test {
namespace {

bool holds_nothing(const std::filesystem::path& folder) {
  return std::filesystem::directory_iterator(folder) == std::filesystem::directory_iterator();
}

TEST(WritePicture, WhatCannotBeWrittenIsRefusedAndLeavesNothing) {
  const TemporaryFolder folder;
  const at::Tensor pixels = gradient(4, 5), deep = gradient(4, 5, 65535);
  const auto refused = [&](const std::string& name, const at::Tensor& x, const std::string& words,
                           const WriteOptions& options = {}) {
    EXPECT_REFUSED(write_picture(folder.path / name, x, options), words);
    EXPECT_REFUSED(write_picture(folder.path / name, x, options), name);
    EXPECT_TRUE(holds_nothing(folder.path)) << words;
  };
  refused("x.webp", pixels, "'.webp'; .png, .jpg and .jpeg can be written");
  refused("x", pixels, "''; .png, .jpg and .jpeg can be written");
  refused("x.png", at::Tensor(), "undefined");
  refused("x.png", at::zeros({4, 5, 4}, at::kByte), "[4, 5, 4]; [H, W, 3]");
  refused("x.png", at::zeros({4}, at::kByte), "[4]; [H, W, 3]");
  refused("x.jpg", at::zeros({0, 5, 3}, at::kByte), "[0, 5, 3]; [H, W, 3]");
  refused("x.png", pixels.to(at::kFloat), "8 bits are uint8, not Float");
  refused("x.png", deep, "8 bits are uint8, not Int");
  refused("x.png", pixels, "16 bits are int32, not Byte", {.bits = 16});
  refused("x.png", at::full({4, 5}, 65536, at::kInt), "16 bits hold 0 to 65535", {.bits = 16});
  refused("x.png", at::full({4, 5}, -1, at::kInt), "16 bits hold 0 to 65535", {.bits = 16});
  refused("x.png", pixels, "with 12 bits", {.bits = 12});
  refused("x.jpg", deep, "a JPEG has 8; give a .png", {.bits = 16});
  refused("x.jpg", pixels, "quality 0 is not within 1 to 100", {.jpeg_quality = 0});
  refused("x.jpg", pixels, "quality 101", {.jpeg_quality = 101});
  refused("x.jpg", at::zeros({1, 65501}, at::kByte), "a JPEG has at most 65500 a side");
}

TEST(WritePicture, PathsThatCannotBeWrittenAreRefused) {
  const TemporaryFolder folder;
  const at::Tensor pixels = gradient(4, 5);
  EXPECT_REFUSED(write_picture(folder.path / "none" / "x.png", pixels), "No such file");
  std::filesystem::create_directory(folder.path / "x.png");
  EXPECT_REFUSED(write_picture(folder.path / "x.png", pixels), "is a folder");
  EXPECT_TRUE(holds_nothing(folder.path / "x.png"));
}

TEST(WritePicture, AFailedWriteLeavesTheOldPicture) {
  const TemporaryFolder folder;
  const at::Tensor pixels = gradient(4, 5);
  write_picture(folder.path / "x.png", pixels);
  EXPECT_REFUSED(write_picture(folder.path / "x.png", pixels.to(at::kFloat)), "uint8");
  EXPECT_TENSOR_EQ(read_picture(folder.path / "x.png").pixels, pixels);
  write_picture(folder.path / "x.png", pixels.flip(0));
  EXPECT_TENSOR_EQ(read_picture(folder.path / "x.png").pixels, pixels.flip(0));
}

TEST(WritePicture, ViewsOfAnyStridesAreWritten) {
  const TemporaryFolder folder;
  const at::Tensor pixels = gradient(9, 6);
  const at::Tensor view = pixels.transpose(0, 1);
  write_picture(folder.path / "x.png", view);
  EXPECT_TENSOR_EQ(read_picture(folder.path / "x.png").pixels, view.contiguous());
  write_picture(folder.path / "wide.png", at::ones({1, 1'200'000}, at::kByte));
  EXPECT_EQ(read_picture_info(folder.path / "wide.png").width, 1'200'000);
}

}  // namespace
}  // namespace intarsia::test
