#include "vision/vision_data.h"

namespace intarsia::test {
namespace {

using vision::Grid;
using vision::grid_of;
using vision::grid_of_video;
using vision::Size;
using vision::smart_resize;
using vision::VideoConfig;

Size qwen3(int64_t height, int64_t width) {
  const auto config = qwen3_config();
  return smart_resize(height, width, config.factor(), config.min_pixels, config.max_pixels);
}

struct Row {
  int64_t height, width;
  Size size;
  Grid grid;
  int64_t raw, merged;
};

// vision.md 1.3
TEST(SmartResize, TheGoldenTableHolds) {
  const std::vector<Row> table = {
      {1, 1, {256, 256}, {1, 16, 16}, 256, 64},
      {16, 16, {256, 256}, {1, 16, 16}, 256, 64},
      {48, 48, {256, 256}, {1, 16, 16}, 256, 64},
      {224, 224, {256, 256}, {1, 16, 16}, 256, 64},
      {256, 256, {256, 256}, {1, 16, 16}, 256, 64},
      {27, 332, {96, 928}, {1, 6, 58}, 348, 87},
      {30, 305, {96, 832}, {1, 6, 52}, 312, 78},
      {144, 1000, {128, 992}, {1, 8, 62}, 496, 124},
      {300, 400, {288, 384}, {1, 18, 24}, 432, 108},
      {341, 512, {352, 512}, {1, 22, 32}, 704, 176},
      {464, 464, {448, 448}, {1, 28, 28}, 784, 196},
      {480, 640, {480, 640}, {1, 30, 40}, 1200, 300},
      {512, 512, {512, 512}, {1, 32, 32}, 1024, 256},
      {720, 1280, {704, 1280}, {1, 44, 80}, 3520, 880},
      {1080, 1920, {1088, 1920}, {1, 68, 120}, 8160, 2040},
      {1944, 2592, {1952, 2592}, {1, 122, 162}, 19764, 4941},
      {2160, 3840, {2176, 3840}, {1, 136, 240}, 32640, 8160},
      {3024, 4032, {3008, 4032}, {1, 188, 252}, 47376, 11844},
      {4096, 4096, {4096, 4096}, {1, 256, 256}, 65536, 16384},
      {9000, 9000, {4096, 4096}, {1, 256, 256}, 65536, 16384},
      {15420, 690, {15424, 704}, {1, 964, 44}, 42416, 10604},
      {5, 1000, {32, 3648}, {1, 2, 228}, 456, 114},
      {1, 200, {32, 3648}, {1, 2, 228}, 456, 114},
  };
  for (const Row& row : table) {
    EXPECT_EQ(qwen3(row.height, row.width), row.size) << row.height << "x" << row.width;
    const Grid grid = grid_of(row.width, row.height, qwen3_config());
    EXPECT_EQ(grid, row.grid) << row.height << "x" << row.width;
    EXPECT_EQ(grid.patches(), row.raw);
    EXPECT_EQ(grid.merged(2), row.merged);
  }
}

TEST(SmartResize, AgreesWithTransformersForPictures) {
  for (const auto& c : rules("pictures"))
    EXPECT_EQ(smart_resize(c[0], c[1], c[2], c[3], c[4]), (Size{c[5], c[6]})) << c;
}

TEST(SmartResize, AgreesWithTransformersForFramesOfAVideo) {
  VideoConfig config;
  config.rule = VideoConfig::Rule::kAllFrames;
  config.patch_size = 16;
  int compared = 0;
  for (const auto& c : rules("videos")) {
    if (c[0] < 2) continue;
    config.min_pixels = c[3];
    config.max_pixels = c[4];
    EXPECT_EQ(smart_resize(c[0], c[1], c[2], config), (Size{c[5], c[6]})) << c;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(SmartResize, HalvesAreRoundedToTheEvenMultiple) {
  EXPECT_EQ(qwen3(720, 1280).height, 704);
  EXPECT_EQ(qwen3(1680, 1680).height, 1664);
  EXPECT_EQ(qwen3(1712, 1712).height, 1728);  // 53.5
}

// B8: qwen-vl-utils gave a side of 0.
TEST(SmartResize, NoSideBecomesZeroHoweverSmallTheBudget) {
  EXPECT_EQ(smart_resize(6000, 40, 32, 1024, 4096), (Size{768, 32}));
  EXPECT_EQ(smart_resize(40, 6000, 32, 1, 1), (Size{32, 32}));
  EXPECT_EQ(smart_resize(1, 1, 32, 1, 1), (Size{32, 32}));
}

// B9, B10
TEST(SmartResize, PicturesSmallerThanACellAreScaledUp) {
  EXPECT_EQ(qwen3(30, 305), (Size{96, 832}));
  EXPECT_EQ(qwen3(27, 332), (Size{96, 928}));
  EXPECT_EQ(smart_resize(27, 257, 28, 56 * 56, 28 * 28 * 1280), (Size{28, 252}));
}

// B11: a front end had made 23x514 of it.
TEST(SmartResize, ALongPictureKeepsItsProportions) {
  EXPECT_EQ(qwen3(15420, 690), (Size{15424, 704}));
  EXPECT_EQ(qwen3(690, 15420), (Size{704, 15424}));
}

// B12
TEST(SmartResize, ARatioOf200IsFineAndMoreIsRefusedWithBothSides) {
  EXPECT_NO_THROW(qwen3(5, 1000));
  EXPECT_NO_THROW(qwen3(200, 1));
  EXPECT_REFUSED(qwen3(5, 1001), "1001x5 pixels: one side is 200.2 times the other");
  EXPECT_REFUSED(qwen3(1093, 5), "5x1093 pixels: one side is 218.6 times");
  EXPECT_REFUSED(qwen3(1, 201), "up to 200 times is allowed");
}

TEST(SmartResize, ImpossibleSizesAndBudgetsAreRefused) {
  EXPECT_REFUSED(qwen3(0, 5), "5x0 pixels");
  EXPECT_REFUSED(qwen3(5, -1), "-1x5 pixels");
  EXPECT_REFUSED(qwen3(1 << 20, (1 << 20) + 1), "from 1 to 1048576");
  EXPECT_REFUSED(smart_resize(5, 5, 0, 1, 1), "a factor of 0");
  EXPECT_REFUSED(smart_resize(5, 5, 28, 10, 9), "budget from 10 to 9");
  EXPECT_REFUSED(grid_of_video(0, 5, 5, VideoConfig{}), "a video of 0 frames");
}

TEST(SmartResize, AFrameBudgetIsSharedByAllFramesInQwen3AndNotInQwen2) {
  VideoConfig config;
  config.patch_size = 16;
  config.min_pixels = 1024;
  config.max_pixels = 10 * 256 * 256;
  EXPECT_EQ(grid_of_video(10, 512, 512, config), (Grid{5, 32, 32}));
  config.rule = VideoConfig::Rule::kAllFrames;
  EXPECT_EQ(grid_of_video(10, 512, 512, config), (Grid{5, 16, 16}));
}

// B38
TEST(SmartResize, VideosOfOneOrAnOddNumberOfFramesHaveAGrid) {
  VideoConfig config;
  for (const auto rule : {VideoConfig::Rule::kFrame, VideoConfig::Rule::kAllFrames}) {
    config.rule = rule;
    for (const int64_t frames : {1, 2, 3, 5, 7})
      EXPECT_EQ(grid_of_video(frames, 280, 280, config).t, (frames + 1) / 2) << frames;
  }
}

// Worked out by the processors' rules: 768 tokens of 32 x 32 pixels a frame; 90 % of 128000 tokens
// of 28 x 28 pixels over 768 frames, two a token.
TEST(SmartResize, ACapBoundsEachFramesShare) {
  VideoConfig config;
  config.rule = VideoConfig::Rule::kAllFrames;
  config.patch_size = 16;
  config.min_pixels = 4096;
  config.max_pixels = 24576 * 1024;
  config.max_video_tokens = 768;
  EXPECT_EQ(grid_of_video(4, 4096, 4096, config), (Grid{2, 156, 156}));
  config.cap_pixels_per_frame = true;
  EXPECT_EQ(grid_of_video(4, 4096, 4096, config), (Grid{2, 54, 54}));
  VideoConfig qwen2;
  qwen2.max_pixels = 768 * 28 * 28;
  EXPECT_EQ(grid_of_video(768, 4096, 4096, qwen2), (Grid{384, 54, 54}));
  qwen2.cap_pixels_per_frame = true;
  EXPECT_EQ(grid_of_video(768, 4096, 4096, qwen2), (Grid{384, 34, 34}));
}

}  // namespace
}  // namespace intarsia::test
