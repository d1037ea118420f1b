#include <sys/resource.h>

#include "io/picture_files.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;

// Reads the file; true if it was refused in words that name it.
bool is_refused_by_name(const std::filesystem::path& path) {
  try {
    read_picture(path);
    return false;
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
    return true;
  }
}

std::vector<std::string> kinds() {
  return {"rgb.png",  "interlaced.png",  "palette_trns.png", "rgb16.png", "swapped_alpha.png",
          "420.jpg",  "progressive.jpg", "restart.jpg",      "cmyk.jpg",  "swapped.jpg",
          "grey.jpg", "turned6.jpg",     "turned6.png",      "grey1.png"};
}

TEST(HostilePicture, ACutAtEveryPercentOfItsLengthIsRefusedByName) {
  const TemporaryFolder folder;
  const auto cut = folder.path / "cut";
  for (const std::string& name : kinds()) {
    const std::string bytes = read_bytes(picture_data(name));
    const bool thorough = name == "rgb.png" || name == "420.jpg";
    for (size_t percent = 0; percent < 100; percent += thorough ? 1 : 7)
      EXPECT_TRUE(
          is_refused_by_name(write_bytes(cut, bytes.substr(0, bytes.size() * percent / 100))))
          << name << " " << percent;
    EXPECT_TRUE(is_refused_by_name(write_bytes(cut, bytes.substr(0, bytes.size() - 1)))) << name;
  }
}

TEST(HostilePicture, ACutPhotoIsCalledTruncated) {
  const TemporaryFolder folder;
  for (const std::string name : {"420.jpg", "rgb.png"}) {
    const std::string bytes = read_bytes(picture_data(name));
    const auto path = write_bytes(folder.path / name, bytes.substr(0, bytes.size() * 2 / 3));
    EXPECT_REFUSED(read_picture(path), "is truncated");
  }
}

// A byte in every 2 % is changed (all bytes were once; that takes minutes).
TEST(HostilePicture, DamagedBytesAreRefusedOrReadButNeverCrash) {
  constexpr size_t kPlaces = 50;
  constexpr unsigned char kChanges[] = {0xff, 0x01, 0x80, 0x10};
  const TemporaryFolder folder;
  for (const std::string& name : kinds()) {
    const std::string bytes = read_bytes(picture_data(name));
    for (size_t i = 0; i < kPlaces; ++i) {
      std::string damaged = bytes;
      char& byte = damaged[(i * bytes.size() + i) / kPlaces];
      byte = static_cast<char>(byte ^ kChanges[i % std::size(kChanges)]);
      const auto path = write_bytes(folder.path / "damaged", damaged);
      try {
        read_picture_info(path);
        const Picture picture = read_picture(path);
        EXPECT_GT(picture.pixels.numel(), 0);
      } catch (const std::invalid_argument&) {
      }
    }
  }
}

TEST(HostilePicture, CorruptJpegDataAreNoSilentGrey) {
  const TemporaryFolder folder;
  std::string bytes = read_bytes(picture_data("restart.jpg"));
  const size_t data = bytes.size() - 300;
  const auto path = write_bytes(folder.path / "x.jpg", bytes.substr(0, data) + "\xff\xd9");
  EXPECT_REFUSED(read_picture(path), "is a broken JPEG: Corrupt JPEG data");
}

int64_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(HostilePicture, ABombIsRefusedFromItsHeaderWithoutMemory) {
  const TemporaryFolder folder;
  const int64_t before = peak_kilobytes();
  for (const uint32_t extent : {60'000U, 0x7fffffffU}) {
    const auto path = write_bytes(folder.path / "bomb.png", png_claiming(extent, extent, "x"));
    EXPECT_REFUSED(read_picture(path), "pixels; at most 268435456 are read");
    EXPECT_EQ(read_picture_info(path).width, extent);
  }
  std::string jpeg = read_bytes(picture_data("420.jpg"));
  jpeg.replace(jpeg.find("\xff\xc0") + 5, 4, "\xff\x00\xff\x00", 4);
  EXPECT_REFUSED(read_picture(write_bytes(folder.path / "bomb.jpg", jpeg)), "65280x65280");
  // Within the limit, but not in so few bytes.
  for (const bool interlaced : {false, true}) {
    const auto path =
        write_bytes(folder.path / "bomb.png", png_claiming(16'000, 16'000, "x", interlaced));
    EXPECT_REFUSED(read_picture(path), "cannot hold 16000x16000 pixels");
  }
  EXPECT_LT(peak_kilobytes() - before, 200'000);  // the smallest bomb would take 768 MB
}

TEST(HostilePicture, TheLimitIsTheCallers) {
  EXPECT_REFUSED(read_picture(picture_data("rgb.png"), {.max_pixels = 220}), "17x13 = 221 pixels");
  EXPECT_EQ(read_picture(picture_data("rgb.png"), {.max_pixels = 221}).pixels.size(0), 13);
  EXPECT_REFUSED(read_picture(picture_data("420.jpg"), {.max_pixels = 0}), "at most 0");
}

TEST(HostilePicture, PngsWithImpossibleHeadersAreRefused) {
  const TemporaryFolder folder;
  for (const auto& [width, height] : {std::pair{0U, 5U}, {5U, 0U}, {0x80000000U, 1U}})
    EXPECT_TRUE(
        is_refused_by_name(write_bytes(folder.path / "x.png", png_claiming(width, height, "x"))));
  // Pixels that end too early although the file is whole.
  EXPECT_REFUSED(read_picture(write_bytes(folder.path / "x.png", png_claiming(4, 4, "x"))),
                 "is a broken PNG");
}

TEST(HostilePicture, OtherFormatsAreNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& start, const std::string& words) {
    const auto path = write_bytes(folder.path / "x.png", start + std::string(64, '\0'));
    EXPECT_REFUSED(read_picture(path), words + "; PNG and JPEG can be read");
    EXPECT_REFUSED(read_picture_info(path), words + "; PNG and JPEG can be read");
  };
  const std::string four("\0\0\0\x18", 4);
  refused("RIFF" + four + "WEBPVP8 ", "is a WebP picture");
  refused("GIF89a", "is a GIF picture");
  refused("BM" + four + std::string(4, '\0'), "is a BMP picture");
  refused(std::string("II*\0", 4), "is a TIFF picture");
  refused(std::string("MM\0*", 4), "is a TIFF picture");
  refused(four + "ftypheic", "is a HEIC picture");
  refused(four + "ftypavif", "is an AVIF picture");
  refused("%PDF-1.7", "is a PDF");
  EXPECT_REFUSED(read_picture(write_bytes(folder.path / "x.png",
                                          "version https://git-lfs.github.com/spec/v1")),
                 "is a git-lfs pointer; fetch the real file");
}

TEST(HostilePicture, WhatIsNoPictureIsRefused) {
  const TemporaryFolder folder;
  EXPECT_REFUSED(read_picture(write_bytes(folder.path / "a.png", "hello\n")), "is a text file");
  EXPECT_REFUSED(read_picture(write_bytes(folder.path / "b.png", std::string(50, '\x01'))),
                 "is not a picture");
  EXPECT_REFUSED(read_picture(write_bytes(folder.path / "c.png", "")), "is empty");
  EXPECT_REFUSED(read_picture(folder.path), "is a folder");
  EXPECT_REFUSED(read_picture(folder.path / "missing.png"), "missing.png: No such file");
  EXPECT_REFUSED(read_picture(""), "without a name");
}

}  // namespace
}  // namespace intarsia::test
