#include <intarsia/video.h>

#include "io/picture_files.h"
#include "io/video_times.h"

namespace intarsia::test {
namespace {

using ::testing::ElementsAre;

TEST(Video, NamesWithNumbersSortAsNumbers) {
  using io::natural_less;
  EXPECT_TRUE(natural_less("frame2.png", "frame10.png"));
  EXPECT_FALSE(natural_less("frame10.png", "frame2.png"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_TRUE(natural_less("1-2", "1-10"));
  EXPECT_TRUE(natural_less("f007", "f7") != natural_less("f7", "f007")) << "one order for both";
  EXPECT_TRUE(natural_less("f007x1", "f7x2"));
  EXPECT_TRUE(natural_less("9", "99999999999999999999999999999999"));
  EXPECT_FALSE(natural_less("a", "a"));
}

TEST(Video, AStatedRateIsTakenIfTheTimesBearItOut) {
  VideoInfo info;
  io::set_times({0, 0.033, 0.067, 0.1}, 30, info);  // milliseconds
  EXPECT_TRUE(info.constant);
  EXPECT_EQ(info.rate, 30);
  EXPECT_EQ(info.times[1], 1 / 30.0);
  io::set_times({5, 5.5, 6}, 30, info);
  EXPECT_EQ(info.rate, 2);
  EXPECT_THAT(info.times, ElementsAre(0, 0.5, 1));
  io::set_times({0, 1, 1.1, 3}, 0, info);
  EXPECT_FALSE(info.constant);
  EXPECT_THAT(info.times, ElementsAre(0, 1, 1.1, 3));
  io::set_times({7}, 0, info);
  EXPECT_TRUE(info.constant);
  EXPECT_THAT(info.times, ElementsAre(0));
  EXPECT_GT(info.rate, 0);
}

TEST(Video, AFolderOfPicturesIsAVideoInNaturalOrder) {
  const TemporaryFolder folder;
  std::vector<at::Tensor> frames;
  for (int i = 0; i < 12; ++i) {
    frames.push_back(gradient(6, 7).add(i));
    write_picture(folder.path / ("frame" + std::to_string(i) + ".png"), frames.back());
  }
  write_bytes(folder.path / "readme.txt", "not a frame");
  write_bytes(folder.path / ".hidden.png", "not a frame");
  write_bytes(folder.path / "empty.png", "");
  const auto video = VideoReader::open(folder.path);
  EXPECT_EQ(video->info().format, "folder");
  EXPECT_EQ(video->info().width, 7);
  EXPECT_EQ(video->info().frames(), 12);
  EXPECT_EQ(video->info().rate, 2);
  EXPECT_EQ(video->info().times[3], 1.5);
  std::vector<at::Tensor> read;
  video->read({0, 2, 2, 10, 11},
              [&](int64_t, const at::Tensor& rgb) { read.push_back(rgb.clone()); });
  ASSERT_EQ(read.size(), 5);
  EXPECT_TENSOR_EQ(read[0], frames[0]);
  EXPECT_TENSOR_EQ(read[1], frames[2]);
  EXPECT_TENSOR_EQ(read[2], frames[2]);
  EXPECT_TENSOR_EQ(read[3], frames[10]);
  EXPECT_TENSOR_EQ(read[4], frames[11]);
}

TEST(Video, WhatCannotBeAFolderOfFramesIsRefusedByName) {
  const TemporaryFolder folder;
  EXPECT_REFUSED(VideoReader::open(folder.path), "has no PNG or JPEG in it");
  write_picture(folder.path / "a1.png", gradient(6, 7));
  write_picture(folder.path / "a2.png", gradient(7, 6));
  EXPECT_REFUSED(VideoReader::open(folder.path), "a2.png has 6x7 pixels, a1.png 7x6");
  VideoOptions options;
  options.limits.max_pixels = 41;
  EXPECT_REFUSED(VideoReader::open(folder.path, options), "at most 41 are read");
  options.folder_rate = 0;
  EXPECT_REFUSED(VideoReader::open(folder.path, options), "folder_rate is 0");
  options.folder_rate = 1;
  options.threads = 0;
  EXPECT_REFUSED(VideoReader::open(folder.path, options), "0 threads");
}

TEST(Video, WithoutFfmpegAFileIsRefusedWithWhatToInstall) {
  if (can_read_video_files()) GTEST_SKIP() << "built with FFmpeg";
  const TemporaryFolder folder;
  write_bytes(folder.path / "a.mp4", "video");
  EXPECT_REFUSED(VideoReader::open(folder.path / "a.mp4"), "libavformat-dev");
}

}  // namespace
}  // namespace intarsia::test
