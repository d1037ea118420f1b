#include <intarsia/video.h>

#include "vision/vision_data.h"

namespace intarsia::test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using vision::patch_times;
using vision::sample_frames;
using vision::time_words;
using vision::VideoConfig;

VideoConfig config_of(VideoConfig::Rule rule) {
  VideoConfig config;
  config.rule = rule;
  return config;
}
const VideoConfig kQwen3 = config_of(VideoConfig::Rule::kAllFrames);
const VideoConfig kQwen2 = config_of(VideoConfig::Rule::kFrame);

TEST(SampleFrames, AgreesWithTransformersInBothRules) {
  for (const auto& c : rules("samples")) {
    for (const auto& [rule, key] : {std::pair{VideoConfig::Rule::kAllFrames, "all_frames"},
                                    {VideoConfig::Rule::kFrame, "frame"}}) {
      VideoConfig config = config_of(rule);
      config.fps = c["fps"];
      config.min_frames = c["min_frames"];
      config.max_frames = c["max_frames"];
      EXPECT_EQ(sample_frames(c["total"], c["rate"], config), c[key].get<std::vector<int64_t>>())
          << key << " of " << c["total"] << " at " << c["rate"];
    }
  }
}

TEST(SampleFrames, AVideoShorterThanATemporalPatchIsTakenWhole) {
  for (const VideoConfig& config : {kQwen2, kQwen3}) {
    EXPECT_THAT(sample_frames(1, 25, config), ElementsAre(0));
    EXPECT_THAT(sample_frames(2, 25, config), ElementsAre(0, 1));
  }
}

TEST(SampleFrames, ACountCanBeAskedForInsteadOfARate) {
  VideoConfig config = kQwen3;
  config.num_frames = 5;
  EXPECT_THAT(sample_frames(9, 25, config), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(sample_frames(3, 25, config), ElementsAre(0, 1, 2)) << "no frame twice";
  config = kQwen2;
  config.num_frames = 5;  // an even count: 5 / 2 = 2.5, half to even
  EXPECT_THAT(sample_frames(8, 25, config), ElementsAre(0, 2, 4, 6));
}

TEST(SampleFrames, FramesAreWithinTheVideoAscendingAndWithinTheLimits) {
  for (const VideoConfig& config : {kQwen2, kQwen3}) {
    for (int64_t total = 1; total < 2500; total += 1 + total / 9) {
      for (const double rate : {0.3, 1.0, 23.976, 30.0, 240.0}) {
        const auto frames = sample_frames(total, rate, config);
        ASSERT_FALSE(frames.empty());
        EXPECT_GE(frames.front(), 0);
        EXPECT_LT(frames.back(), total);
        EXPECT_TRUE(std::is_sorted(frames.begin(), frames.end()));
        EXPECT_LE(static_cast<int64_t>(frames.size()), std::min<int64_t>(total, config.max_frames));
      }
    }
  }
}

TEST(SampleFrames, UnevenlySpacedFramesAreTakenEvenlyInTime) {
  VideoInfo video;  // 10 frames in the first second, then one a second
  for (int i = 0; i < 10; ++i) video.times.push_back(i * 0.1);
  for (int i = 1; i <= 9; ++i) video.times.push_back(i);
  video.constant = false;
  video.rate = 18 / 9.0;
  VideoConfig config = kQwen3;
  config.num_frames = 4;
  EXPECT_THAT(sample_frames(video, config), ElementsAre(0, 12, 15, 18));  // 0, 3, 6 and 9 s
  config = kQwen2;
  config.num_frames = 2;
  EXPECT_THAT(sample_frames(video, config), ElementsAre(0, 13));  // 0 and 4.75 s
  video.constant = true;
  EXPECT_EQ(sample_frames(video, kQwen3), sample_frames(19, 2, kQwen3));
}

TEST(SampleFrames, ImpossibleVideosAreRefused) {
  EXPECT_REFUSED(sample_frames(0, 25, kQwen3), "0 frames");
  EXPECT_REFUSED(sample_frames(5, 0, kQwen3), "0 frames a second");
  EXPECT_REFUSED(sample_frames(5, std::nan(""), kQwen2), "nan frames a second");
}

TEST(PatchTimes, AreMeansOfFirstAndLastFrameOfEachPatch) {
  EXPECT_THAT(patch_times({0, 0.5, 1, 1.5}, 2), ElementsAre(0.25, 1.25));
  EXPECT_THAT(patch_times({0, 0.5, 1}, 2), ElementsAre(0.25, 1)) << "the last is repeated";
  EXPECT_THAT(patch_times({0, 1, 5}, 3), ElementsAre(2.5));
  EXPECT_THAT(patch_times({3}, 2), ElementsAre(3));
}

TEST(PatchTimes, AreWrittenWithOneDigitHalfToEven) {
  EXPECT_EQ(time_words(0.25), "<0.2 seconds>");
  EXPECT_EQ(time_words(0.75), "<0.8 seconds>");
  EXPECT_EQ(time_words(0), "<0.0 seconds>");
  EXPECT_EQ(time_words(1234.56), "<1234.6 seconds>");
}

}  // namespace
}  // namespace intarsia::test
