#include <intarsia/video.h>

#include "io/picture_files.h"
#include "io/video_files.h"

namespace intarsia::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VideoFile : public ::testing::Test {
 protected:
  std::unique_ptr<VideoReader> made(const std::string& name, const VideoRecipe& recipe) const {
    write_video(folder_.path / name, recipe);
    return VideoReader::open(folder_.path / name);
  }
  TemporaryFolder folder_;
};

std::vector<at::Tensor> scenes(int64_t count, int64_t height, int64_t width) {
  std::vector<at::Tensor> frames;
  for (int64_t i = 0; i < count; ++i)
    frames.push_back((gradient(height, width).to(at::kInt) + 13 * i).remainder(256).to(at::kByte));
  return frames;
}

std::vector<int64_t> up_to(int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

std::vector<at::Tensor> frames_of(VideoReader& video, const std::vector<int64_t>& indices) {
  std::vector<at::Tensor> frames;
  video.read(indices, [&](int64_t at, const at::Tensor& rgb) {
    EXPECT_EQ(at, static_cast<int64_t>(frames.size()));
    frames.push_back(rgb.clone());
  });
  return frames;
}

TEST_F(VideoFile, FramesComeBackExactlyAtOddSizesToo) {
  for (const auto& [height, width] : {std::pair{24, 32}, {17, 23}, {1, 1}, {3, 70}, {65, 2}}) {
    const auto frames = scenes(5, height, width);
    const auto video = made("a.mov", rgb_video(frames));
    EXPECT_EQ(video->info().width, width);
    EXPECT_EQ(video->info().height, height);
    ASSERT_EQ(video->info().frames(), 5);
    const auto read = frames_of(*video, up_to(5));
    for (size_t i = 0; i < 5; ++i) EXPECT_TENSOR_EQ(read.at(i), frames[i]) << width;
  }
}

TEST_F(VideoFile, OnlyTheFramesAskedForAreGivenAndRepeatsAreGivenAgain) {
  const auto frames = scenes(9, 10, 12);
  const auto video = made("a.mov", rgb_video(frames));
  const std::vector<int64_t> wanted = {1, 4, 4, 8};
  const auto read = frames_of(*video, wanted);
  ASSERT_EQ(read.size(), 4);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TENSOR_EQ(read[i], frames[static_cast<size_t>(wanted[i])]) << i;
  EXPECT_TENSOR_EQ(frames_of(*video, {0}).at(0), frames[0])
      << "a reader reads again from the start";
  EXPECT_THAT(frames_of(*video, {}), IsEmpty());
  EXPECT_REFUSED(frames_of(*video, {3, 2}), "ascending order, from 0 to 8");
  EXPECT_REFUSED(frames_of(*video, {9}), "from 0 to 8");
  EXPECT_REFUSED(frames_of(*video, {-1}), "from 0 to 8");
}

TEST_F(VideoFile, EvenlySpacedFramesHaveExactTimesAndTheStatedRate) {
  const VideoInfo info = made("a.mov", rgb_video(scenes(5, 8, 8)))->info();
  EXPECT_TRUE(info.constant);
  EXPECT_DOUBLE_EQ(info.rate, 10);
  EXPECT_THAT(info.times, ElementsAre(0, 1 / 10.0, 2 / 10.0, 3 / 10.0, 4 / 10.0));
  EXPECT_EQ(info.codec, "png");
}

TEST_F(VideoFile, TimestampsOfAVariableFrameRateAreThoseOfTheFile) {
  VideoRecipe recipe = rgb_video(scenes(5, 8, 8));
  recipe.stamps = {500, 600, 1500, 1600, 2500};  // does not begin at 0 either
  const VideoInfo info = made("a.mkv", recipe)->info();
  EXPECT_FALSE(info.constant);
  ASSERT_EQ(info.frames(), 5);
  const std::vector<double> expected = {0, 0.1, 1, 1.1, 2};
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(info.times[i], expected[i], 1e-9);
  EXPECT_NEAR(info.rate, 2, 1e-6);
}

// B35 for videos: phones store them lying.
TEST_F(VideoFile, RotationsAndMirrorsOfTheFileAreApplied) {
  const at::Tensor rgb = gradient(6, 10);
  constexpr int32_t kOne = 1 << 16, kLast = 1 << 30;
  const auto matrix = [&](int32_t a, int32_t b, int32_t c, int32_t d) {
    return std::array<int32_t, 9>{a * kOne, b * kOne, 0, c * kOne, d * kOne, 0, 0, 0, kLast};
  };
  const std::vector<std::pair<std::array<int32_t, 9>, at::Tensor>> cases = {
      {matrix(1, 0, 0, 1), rgb},
      {matrix(0, 1, -1, 0), rgb.rot90(-1, {0, 1})},  // a quarter clockwise
      {matrix(-1, 0, 0, -1), rgb.rot90(2, {0, 1})},
      {matrix(0, -1, 1, 0), rgb.rot90(1, {0, 1})},
      {matrix(-1, 0, 0, 1), rgb.flip(1)},
      {matrix(1, 0, 0, -1), rgb.flip(0)},
      {matrix(0, 1, 1, 0), rgb.transpose(0, 1)},
  };
  for (const auto& [turn, expected] : cases) {
    VideoRecipe recipe = rgb_video({rgb, rgb});
    recipe.matrix = turn;
    const auto video = made("a.mov", recipe);
    EXPECT_EQ(video->info().width, expected.size(1));
    EXPECT_EQ(video->info().height, expected.size(0));
    EXPECT_TENSOR_EQ(frames_of(*video, {0}).at(0), expected.contiguous());
  }
}

VideoRecipe flat_yuv(int y, int u, int v, AVColorSpace space, AVColorRange range) {
  VideoRecipe recipe;
  recipe.codec = "ffv1";
  recipe.format = AV_PIX_FMT_YUV420P;
  recipe.width = recipe.height = 8;
  recipe.space = space;
  recipe.range = range;
  const auto plane = [](int64_t side, int value) {
    return at::full({side, side}, value, at::kByte);
  };
  for (int i = 0; i < 2; ++i) recipe.frames.push_back({plane(8, y), plane(4, u), plane(4, v)});
  return recipe;
}

TEST_F(VideoFile, ColourMatrixAndRangeAreTheFiles) {
  const auto colour = [&](int y, int u, int v, AVColorSpace space, AVColorRange range) {
    const at::Tensor rgb =
        frames_of(*made("a.mkv", flat_yuv(y, u, v, space, range)), {0}).at(0)[4][4].to(at::kInt);
    return std::vector<int>{rgb[0].item<int>(), rgb[1].item<int>(), rgb[2].item<int>()};
  };
  const auto near = [](int r, int g, int b) {
    using ::testing::AllOf, ::testing::Ge, ::testing::Le;
    const auto within = [](int x) { return AllOf(Ge(x - 2), Le(x + 2)); };
    return ElementsAre(within(r), within(g), within(b));
  };
  // Worked out by hand: R = Y' + 2(1−Kr)V', B = Y' + 2(1−Kb)U', G from the rest.
  EXPECT_THAT(colour(81, 90, 240, AVCOL_SPC_BT470BG, AVCOL_RANGE_MPEG), near(255, 0, 0));
  EXPECT_THAT(colour(63, 102, 240, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG), near(255, 1, 0));
  EXPECT_THAT(colour(54, 99, 255, AVCOL_SPC_BT709, AVCOL_RANGE_JPEG), near(254, 0, 0));
  EXPECT_THAT(colour(76, 85, 255, AVCOL_SPC_BT470BG, AVCOL_RANGE_JPEG), near(254, 0, 0));
  EXPECT_THAT(colour(128, 128, 128, AVCOL_SPC_BT709, AVCOL_RANGE_JPEG), near(128, 128, 128));
  EXPECT_THAT(colour(235, 128, 128, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG), near(255, 255, 255));
  EXPECT_THAT(colour(81, 90, 240, AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED), near(255, 0, 0))
      << "unspecified: BT.601, limited";
}

TEST_F(VideoFile, TransparentFramesAreLaidOnWhite) {
  at::Tensor rgba = at::full({4, 4, 4}, 100, at::kByte);
  rgba.select(2, 3).fill_(0);
  rgba.narrow(1, 2, 2).select(2, 3).fill_(255);
  VideoRecipe recipe = rgb_video({rgba, rgba});
  recipe.format = AV_PIX_FMT_RGBA;
  const at::Tensor rgb = frames_of(*made("a.mov", recipe), {0}).at(0);
  EXPECT_EQ(rgb[0][0][0].item<int>(), 255);
  EXPECT_EQ(rgb[0][3][0].item<int>(), 100);
}

TEST_F(VideoFile, FramesOfAReorderingCodecComeInOrderOfShowing) {
  VideoRecipe recipe;
  recipe.codec = "mpeg4";
  recipe.format = AV_PIX_FMT_YUV420P;
  recipe.width = 32;
  recipe.height = 32;
  recipe.b_frames = 2;
  for (int i = 0; i < 20; ++i)
    recipe.frames.push_back({at::full({32, 32}, 20 + 10 * i, at::kByte),
                             at::full({16, 16}, 128, at::kByte),
                             at::full({16, 16}, 128, at::kByte)});
  for (const std::string name : {"a.mp4", "a.mkv", "a.avi"}) {
    const auto video = made(name, recipe);
    ASSERT_EQ(video->info().frames(), 20) << name;
    const auto frames = frames_of(*video, up_to(20));
    for (size_t i = 0; i < 20; ++i) {
      const double grey = frames[i].to(at::kDouble).mean().item<double>();
      EXPECT_NEAR(grey, (20 + 10 * double(i) - 16) * 255 / 219, 6) << name << " " << i;
    }
  }
}

TEST_F(VideoFile, AFrameIsTheSameWhicheverOthersAreRead) {
  VideoRecipe recipe;
  recipe.codec = "mpeg4";
  recipe.format = AV_PIX_FMT_YUV420P;
  recipe.width = 48;
  recipe.height = 32;
  recipe.b_frames = 2;
  for (int i = 0; i < 30; ++i) {
    const at::Tensor grey = gradient(32, 48 + i).select(2, 0).narrow(1, i, 48);
    const at::Tensor flat = at::full({16, 24}, 100 + i, at::kByte);
    recipe.frames.push_back({grey, flat, flat});
  }
  for (const std::string name : {"a.mp4", "a.avi"}) {  // an AVI has no times of showing
    const auto video = made(name, recipe);
    const auto all = frames_of(*video, up_to(30));
    for (int64_t i = 0; i < 30; ++i)
      EXPECT_TENSOR_EQ(frames_of(*video, {i}).at(0), all[static_cast<size_t>(i)]) << name << i;
  }
}

TEST_F(VideoFile, ADamagedFileIsReadOrRefusedAndNothingElse) {
  write_video(folder_.path / "a.mkv", rgb_video(scenes(3, 6, 6)));
  const std::string bytes = read_bytes(folder_.path / "a.mkv");
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    try {
      const auto video = VideoReader::open(write_bytes(folder_.path / "damaged.mkv", damaged));
      const auto count = static_cast<size_t>(video->info().frames());
      EXPECT_EQ(frames_of(*video, up_to(video->info().frames())).size(), count) << at;
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("damaged.mkv"));
    }
  }
}

// B39: "expected 1226 frames, loaded 1225".
TEST_F(VideoFile, FramesThatCannotBeDecodedAreStoodInForAndNoted) {
  const auto scene = scenes(6, 16, 16);
  VideoRecipe recipe = rgb_video(scene);
  recipe.rubbish = {2, 5};
  const auto video = made("a.mov", recipe);
  ASSERT_EQ(video->info().frames(), 6);
  std::vector<at::Tensor> frames;
  const auto notes =
      video->read(up_to(6), [&](int64_t, const at::Tensor& rgb) { frames.push_back(rgb.clone()); });
  ASSERT_EQ(frames.size(), 6);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("2 of 6 frames were missing")));
  const size_t shown[] = {0, 1, 3, 3, 4, 4};
  for (size_t i = 0; i < 6; ++i) EXPECT_TENSOR_EQ(frames[i], scene[shown[i]]) << i;
  recipe.rubbish = {0, 1, 2, 3, 4, 5};
  const auto broken = made("b.mov", recipe);
  EXPECT_REFUSED(frames_of(*broken, {0}), "none of its frames can be decoded");
}

TEST_F(VideoFile, AFileThatWasCutShortGivesWhatIsThereOrIsRefused) {
  write_video(folder_.path / "a.mkv", rgb_video(scenes(12, 40, 40)));
  const auto size = std::filesystem::file_size(folder_.path / "a.mkv");
  for (const double part : {0.95, 0.5, 0.2, 0.02, 0.001}) {
    const auto cut = folder_.path / "cut.mkv";
    std::filesystem::copy_file(folder_.path / "a.mkv", cut,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, static_cast<uintmax_t>(double(size) * part));
    try {
      const auto video = VideoReader::open(cut);
      EXPECT_LT(video->info().frames(), 12);
      const auto frames = frames_of(*video, up_to(video->info().frames()));
      EXPECT_EQ(static_cast<int64_t>(frames.size()), video->info().frames());
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("cut.mkv"));
    }
  }
}

TEST_F(VideoFile, WhatIsNoVideoIsRefusedByName) {
  const auto path = folder_.path / "notes.mp4";
  write_bytes(path, "these are only words, and not many of them\n");
  EXPECT_REFUSED(VideoReader::open(path), "notes.mp4 is not a video");
  EXPECT_REFUSED(VideoReader::open(folder_.path / "absent.mp4"), "there is no");
}

// B37
TEST_F(VideoFile, FramesBeyondTheLimitAreRefusedBeforeAnyIsDecoded) {
  write_video(folder_.path / "a.mov", rgb_video(scenes(2, 20, 30)));
  VideoOptions options;
  options.limits.max_pixels = 599;
  EXPECT_REFUSED(VideoReader::open(folder_.path / "a.mov", options), "30x20 pixels; at most 599");
  options.limits.max_pixels = 600;
  EXPECT_EQ(VideoReader::open(folder_.path / "a.mov", options)->info().frames(), 2);
}

TEST_F(VideoFile, ThreadsDoNotChangeTheFrames) {
  const auto frames = scenes(8, 12, 12);
  write_video(folder_.path / "a.mov", rgb_video(frames));
  VideoOptions options;
  options.threads = 3;
  const auto read = frames_of(*VideoReader::open(folder_.path / "a.mov", options), up_to(8));
  for (size_t i = 0; i < 8; ++i) EXPECT_TENSOR_EQ(read[i], frames[i]);
}

}  // namespace
}  // namespace intarsia::test
