#include "vision/vision_data.h"

namespace intarsia::test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using vision::ProcessorConfig;
using vision::read_processor_config;
using vision::read_video_config;
using vision::VideoConfig;

class Processor : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& text,
                             const std::string& name = "preprocessor_config.json") const {
    return write_bytes(folder_.path / name, text);
  }
  ProcessorConfig picture(const std::string& text) const {
    return read_processor_config(file(text));
  }
  VideoConfig video(const std::string& text) const {
    return read_video_config(file(text, "video_preprocessor_config.json"));
  }
  TemporaryFolder folder_;
};

TEST_F(Processor, ConfigsOfTheGoldensAreRead) {
  const ProcessorConfig qwen2 = read_processor_config(vision_data("qwen2_vl"));
  EXPECT_EQ(qwen2.patch_size, 14);
  EXPECT_EQ(qwen2.factor(), 28);
  EXPECT_EQ(qwen2.features(), 1176);
  EXPECT_EQ(qwen2.min_pixels, 4096);
  EXPECT_EQ(qwen2.max_pixels, 18432);
  EXPECT_THAT(qwen2.mean, ElementsAre(0.48145466, 0.4578275, 0.40821073));
  const VideoConfig qwen3 = read_video_config(vision_data("qwen3_vl"));
  EXPECT_EQ(qwen3.rule, VideoConfig::Rule::kAllFrames);
  EXPECT_EQ(qwen3.patch_size, 16);
  EXPECT_EQ(qwen3.min_pixels, 24576);
  EXPECT_EQ(qwen3.max_pixels, 55296);
  EXPECT_EQ(read_video_config(vision_data("qwen2_vl")).rule, VideoConfig::Rule::kFrame);
}

TEST_F(Processor, AbsentKeysHaveTheClasssDefaults) {
  const ProcessorConfig config = picture("{}");
  EXPECT_EQ(config.min_pixels, 56 * 56);
  EXPECT_EQ(config.max_pixels, 28 * 28 * 1280);
  EXPECT_EQ(config.merge_size, 2);
  EXPECT_EQ(config.rescale_factor, 1.0 / 255);
  const VideoConfig qwen3 = video(R"({"video_processor_type": "Qwen3VLVideoProcessor"})");
  EXPECT_EQ(qwen3.patch_size, 16);
  EXPECT_EQ(qwen3.min_pixels, 128 * 32 * 32);
  EXPECT_EQ(qwen3.max_pixels, 768 * 32 * 32);
  EXPECT_EQ(qwen3.fps, 2);
  EXPECT_EQ(qwen3.min_frames, 4);
  EXPECT_EQ(qwen3.max_frames, 768);
  EXPECT_THAT(qwen3.mean, ElementsAre(0.5, 0.5, 0.5));
  const VideoConfig qwen2 =
      video(R"({"video_processor_type": "Qwen2VLVideoProcessor", "fps": null})");
  EXPECT_EQ(qwen2.max_pixels, 768 * 28 * 28);
  EXPECT_EQ(qwen2.max_video_tokens, 128000);
}

TEST_F(Processor, EveryWayToWriteTheBudgetIsUnderstood) {
  const auto budget = [&](const std::string& text) {
    const ProcessorConfig c = picture(text);
    return std::pair{c.min_pixels, c.max_pixels};
  };
  EXPECT_EQ(budget(R"({"min_pixels": 3136, "max_pixels": 12845056})"),
            (std::pair{3136L, 12845056L}));
  EXPECT_EQ(budget(R"({"size": {"min_pixels": 10, "max_pixels": 20}})"), (std::pair{10L, 20L}));
  EXPECT_EQ(budget(R"({"size": {"shortest_edge": 10, "longest_edge": 20}})"),
            (std::pair{10L, 20L}));
  EXPECT_EQ(budget(R"({"size": {"shortest_edge": 10, "longest_edge": 20}, "max_pixels": 30})"),
            (std::pair{10L, 30L}));
}

TEST_F(Processor, NamesOfAllBackendsAreKnownAndOthersRefused) {
  for (const std::string name : {"Qwen2VLImageProcessor", "Qwen2VLImageProcessorFast",
                                 "Qwen2VLImageProcessorPil", "Qwen3VLImageProcessor"})
    EXPECT_EQ(picture(R"({"image_processor_type": ")" + name + "\"}").name, name);
  EXPECT_REFUSED(picture(R"({"image_processor_type": "CLIPImageProcessor"})"),
                 "image_processor_type is CLIPImageProcessor; supported: Qwen2VLImageProcessor");
  EXPECT_REFUSED(video(R"({"video_processor_type": "LlavaVideoProcessor"})"),
                 "video_processor_type is LlavaVideoProcessor");
}

TEST_F(Processor, AFilterThatIsNotBicubicIsRefusedByKey) {
  EXPECT_NO_THROW(picture(R"({"resample": 3})"));
  EXPECT_REFUSED(picture(R"({"resample": 2})"), "resample is 2; only 3 (bicubic) is supported");
  EXPECT_REFUSED(video(R"({"resample": 1})"), "resample is 1");
}

TEST_F(Processor, ValuesThatCannotBeAreRefusedByFileAndKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"patch_size": 0})", "patch_size is 0; it must be from 1 to 256"},
      {R"({"patch_size": 14.5})", "patch_size is 14.5; it must be a whole number"},
      {R"({"patch_size": "14"})", "patch_size is \"14\"; it must be a whole number"},
      {R"({"merge_size": -2})", "merge_size is -2"},
      {R"({"temporal_patch_size": 1e9})", "temporal_patch_size is 1000000000"},
      {R"({"image_std": [1, 0, 1]})", "image_std has 0"},
      {R"({"image_mean": [1, 2]})", "image_mean is [1,2]; it must be three numbers"},
      {R"({"rescale_factor": 0})", "rescale_factor is 0"},
      {R"({"do_resize": 1})", "do_resize is 1; it must be true or false"},
      {R"({"do_center_crop": true})", "do_center_crop is true"},
      {R"({"size": {"height": 224, "width": 224}})", "it has shortest_edge and longest_edge"},
      {R"({"size": 224})", "size is 224"},
      {R"({"min_pixels": 20, "max_pixels": 10})", "from 20 to 10 pixels"},
      {R"([1])", "is not a JSON object"},
      {R"({"patch_size": 14, "patch_size": 16})", "patch_size"},
      {"{", "preprocessor_config.json"},
  };
  for (const auto& [text, words] : cases) {
    EXPECT_REFUSED(picture(text), words) << text;
    EXPECT_REFUSED(picture(text), "preprocessor_config.json") << text;
  }
  EXPECT_REFUSED(video(R"({"fps": 0})"), "fps is 0");
  EXPECT_REFUSED(video(R"({"min_frames": 9, "max_frames": 8})"), "min_frames is 9");
  EXPECT_REFUSED(video(R"({"num_frames": 0})"), "num_frames is 0");
}

TEST_F(Processor, AFolderMayHoldOneConfigForBoth) {
  file(R"({"processor_class": "Qwen3VLProcessor",
           "image_processor": {"image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16},
           "video_processor": {"video_processor_type": "Qwen3VLVideoProcessor", "fps": 4}})",
       "processor_config.json");
  EXPECT_EQ(read_processor_config(folder_.path).patch_size, 16);
  EXPECT_EQ(read_video_config(folder_.path).fps, 4);
  EXPECT_EQ(read_video_config(folder_.path).rule, VideoConfig::Rule::kAllFrames);
}

TEST_F(Processor, AFolderWithoutAConfigForVideosUsesThatForPictures) {
  EXPECT_REFUSED(read_processor_config(folder_.path), "has no preprocessor_config.json");
  EXPECT_REFUSED(read_video_config(folder_.path), "has no video_preprocessor_config.json");
  file(
      R"({"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14, "max_pixels": 999999})");
  EXPECT_EQ(read_video_config(folder_.path).rule, VideoConfig::Rule::kFrame);
  EXPECT_EQ(read_video_config(folder_.path).max_pixels, 999999);
  file(R"({"processor_class": "Qwen3VLProcessor", "patch_size": 16})");
  EXPECT_EQ(read_video_config(folder_.path).rule, VideoConfig::Rule::kAllFrames);
}

}  // namespace
}  // namespace intarsia::test
