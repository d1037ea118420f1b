#include <intarsia/checkpoint.h>
#include <intarsia/video.h>

#include "vision/vision_data.h"

namespace intarsia::test {
namespace {

using ::testing::ElementsAre;
using vision::Grid;
using vision::Patches;
using vision::patches_of;
using vision::patches_of_video;
using vision::Pixels;
using vision::ProcessorConfig;
using vision::VideoConfig;

struct Goldens {
  std::string processor;  // p14, p16
  ProcessorConfig pictures;
  VideoConfig videos;
  Checkpoint pixels;
};

std::vector<Goldens> goldens() {
  std::vector<Goldens> all;
  for (const auto& [processor, model] : {std::pair{"p14", "qwen2_vl"}, {"p16", "qwen3_vl"}})
    all.push_back(
        {processor, vision::read_processor_config(vision_data(model)),
         vision::read_video_config(vision_data(model)),
         Checkpoint::open(vision_data("pixels_" + std::string(processor) + ".safetensors"))});
  return all;
}

Grid grid_in(const Checkpoint& pixels, const std::string& name) {
  const at::Tensor thw = pixels.read(name + ".grid_thw")[0];
  return {thw[0].item<int64_t>(), thw[1].item<int64_t>(), thw[2].item<int64_t>()};
}

std::vector<std::string> pictures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(vision_data("images")))
    if (!entry.path().stem().string().starts_with("video")) names.push_back(entry.path().stem());
  return names;
}

at::Tensor picture_pixels(const std::string& name) {
  return read_picture(vision_data("images/" + name + ".png")).pixels;
}

at::Tensor video_frames() {
  std::vector<at::Tensor> frames;
  for (int i = 0; i < 5; ++i) frames.push_back(picture_pixels("video_" + std::to_string(i)));
  return at::stack(frames);
}

TEST(Patches, OfAllPicturesHaveTheBitsOfTransformers) {
  EXPECT_EQ(pictures().size(), 8);
  for (const Goldens& golden : goldens()) {
    for (const std::string& name : pictures()) {
      const Patches patches = patches_of(vision_data("images/" + name + ".png"), golden.pictures);
      EXPECT_EQ(patches.grid, grid_in(golden.pixels, name)) << golden.processor << " " << name;
      EXPECT_TENSOR_EQ(patches.values, golden.pixels.read(name + ".pixel_values"))
          << golden.processor << " " << name << ": "
          << max_difference(patches.values, golden.pixels.read(name + ".pixel_values"));
    }
  }
}

TEST(Patches, OfAVideoHaveTheBitsOfTransformers) {
  for (const Goldens& golden : goldens()) {
    const Patches patches = patches_of_video(video_frames(), golden.videos);
    EXPECT_EQ(patches.grid, grid_in(golden.pixels, "video")) << golden.processor;
    EXPECT_TENSOR_EQ(patches.values, golden.pixels.read("video.pixel_values"))
        << golden.processor << ": "
        << max_difference(patches.values, golden.pixels.read("video.pixel_values"));
  }
}

TEST(Patches, GridsFromSizesAloneAreThoseOfThePatches) {
  for (const Goldens& golden : goldens()) {
    for (const std::string& name : pictures()) {
      const PictureInfo info = read_picture_info(vision_data("images/" + name + ".png"));
      EXPECT_EQ(vision::grid_of(info.width, info.height, golden.pictures),
                grid_in(golden.pixels, name));
    }
  }
}

TEST(Patches, TorchvisionsPixelsAreCloseAndNotTheSame) {
  for (const Goldens& golden : goldens()) {
    double most = 0;
    for (const std::string& name : pictures()) {
      const at::Tensor values =
          patches_of(picture_pixels(name), golden.pictures, Pixels::kTorchvision).values;
      most = std::max(most, max_difference(values, golden.pixels.read(name + ".pixel_values")));
    }
    EXPECT_GT(most, 0.005) << golden.processor;
    EXPECT_LT(most, 0.031) << golden.processor << ": two grey levels";
  }
}

TEST(Patches, AFolderOfFramesIsReadAsItsTensorOfFrames) {
  const TemporaryFolder folder;
  for (int i = 0; i < 5; ++i)
    std::filesystem::copy_file(vision_data("images/video_" + std::to_string(i) + ".png"),
                               folder.path / ("frame" + std::to_string(8 + i) + ".png"));
  const auto video = VideoReader::open(folder.path);
  for (const Goldens& golden : goldens()) {
    const auto result = patches_of_video(*video, golden.videos, true);
    EXPECT_TENSOR_EQ(result.patches.values, golden.pixels.read("video.pixel_values"));
    EXPECT_THAT(result.frames, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(result.times, ElementsAre(0.25, 1.25, 2));
    EXPECT_DOUBLE_EQ(result.seconds_per_patch, 1);
    const auto sampled = patches_of_video(*video, golden.videos);
    EXPECT_EQ(sampled.patches.grid.t, (static_cast<int64_t>(sampled.frames.size()) + 1) / 2);
  }
}

// B38
TEST(Patches, OfAnOddNumberOfFramesRepeatTheLastOne) {
  const at::Tensor frames = video_frames();
  for (const Goldens& golden : goldens()) {
    for (const int64_t count : {1, 3, 5}) {
      const at::Tensor odd = frames.narrow(0, 0, count);
      VideoConfig config = golden.videos;
      config.do_resize = false;
      const int64_t side = config.factor() * 2;
      const at::Tensor cut = odd.narrow(1, 0, side).narrow(2, 0, side);
      const Patches one = patches_of_video(cut, config);
      const Patches two = patches_of_video(at::cat({cut, cut.narrow(0, count - 1, 1)}), config);
      EXPECT_EQ(one.grid.t, (count + 1) / 2);
      EXPECT_TENSOR_EQ(one.values, two.values) << count;
    }
    EXPECT_EQ(patches_of_video(frames.narrow(0, 0, 1), golden.videos).grid.t, 1);
  }
}

TEST(Patches, RowsRunOverMergeCellsAndFeaturesOverChannelFrameRowColumn) {
  ProcessorConfig config;
  config.patch_size = 2;
  config.do_resize = config.do_rescale = config.do_normalize = false;
  const at::Tensor rgb =
      at::arange(8 * 8 * 3, at::kInt).remainder(251).to(at::kByte).view({8, 8, 3});
  const at::Tensor expected =
      rgb.permute({2, 0, 1})
          .view({3, 2, 2, 2, 2, 2, 2})     // C, cell, row, y, cell, column, x
          .permute({1, 4, 2, 5, 0, 3, 6})  // cell, cell, row, column, C, y, x
          .unsqueeze(5)
          .expand({2, 2, 2, 2, 3, 2, 2, 2})
          .reshape({16, 24})
          .to(at::kFloat);
  EXPECT_TENSOR_EQ(patches_of(rgb, config).values, expected);
}

// B35
TEST(Patches, EveryOrientationOfAPhotoGivesTheUprightOnesPatches) {
  const ProcessorConfig config = goldens()[1].pictures;
  for (int i = 1; i <= 8; ++i) {
    const std::string name = "turned" + std::to_string(i) + ".jpg";
    const Picture shown = read_picture(picture_data(name));
    const Patches patches = patches_of(picture_data(name), config);
    EXPECT_TENSOR_EQ(patches.values, patches_of(shown.pixels, config).values) << name;
    const PictureInfo info = read_picture_info(picture_data(name));
    EXPECT_EQ(patches.grid, vision::grid_of(info.width, info.height, config)) << name;
  }
}

// B36
TEST(Patches, TransparencyIsLaidOnWhiteInEveryKindOfPicture) {
  ProcessorConfig config = goldens()[1].pictures;
  for (const std::string name :
       {"rgba.png", "grey_alpha.png", "palette_trns.png", "rgb_trns.png", "rgba16.png"}) {
    const at::Tensor values = patches_of(picture_data(name), config).values;
    const Picture shown = read_picture(picture_data(name));
    EXPECT_THAT(shown.notes, ::testing::Contains("its alpha was laid on white")) << name;
    EXPECT_TRUE(at::isfinite(values).all().item<bool>());
  }
}

TEST(Patches, SixteenBitsBecomeTheHighByte) {
  const ProcessorConfig config = goldens()[1].pictures;
  for (const std::string name : {"rgb16.png", "grey16.png"}) {
    const at::Tensor high = read_picture(picture_data(name)).pixels.div(256, "floor").to(at::kByte);
    EXPECT_TENSOR_EQ(patches_of(picture_data(name), config).values,
                     patches_of(high, config).values);
  }
}

// B37
TEST(Patches, ABombIsRefusedFromItsHeaderAlone) {
  const TemporaryFolder folder;
  const auto bomb = write_bytes(folder.path / "bomb.png", png_claiming(20000, 20000, "x"));
  EXPECT_REFUSED(patches_of(bomb, ProcessorConfig{}), "bomb.png has 20000x20000");
}

// B12
TEST(Patches, ATooLongPictureIsRefusedByNameBeforeItIsDecoded) {
  const TemporaryFolder folder;
  const auto path = write_bytes(folder.path / "thin.png", png_claiming(1093, 5, "broken"));
  EXPECT_REFUSED(patches_of(path, ProcessorConfig{}),
                 "thin.png: 1093x5 pixels: one side is 218.6 times the other");
}

// B40: no picture makes a number that is not one.
TEST(Patches, EveryGreyLevelBecomesAFiniteValue) {
  for (const Goldens& golden : goldens()) {
    ProcessorConfig config = golden.pictures;
    config.do_resize = false;
    const int64_t side = config.factor();
    const at::Tensor rgb = at::arange(side * side * 3, at::kInt).remainder(256).to(at::kByte);
    for (const Pixels pixels : {Pixels::kPillow, Pixels::kTorchvision}) {
      const at::Tensor values = patches_of(rgb.view({side, side, 3}), config, pixels).values;
      EXPECT_TRUE(at::isfinite(values).all().item<bool>());
      EXPECT_LT(values.abs().max().item<double>(), 3);
    }
  }
}

TEST(Patches, WhatCannotBeCutIsRefused) {
  const ProcessorConfig config;
  EXPECT_REFUSED(patches_of(at::zeros({4, 4, 3}), config), "uint8 [H, W, 3] on the CPU, not Float");
  EXPECT_REFUSED(patches_of(at::zeros({4, 4, 1}, at::kByte), config), "[4, 4, 1]");
  EXPECT_REFUSED(patches_of(at::zeros({0, 4, 3}, at::kByte), config), "[0, 4, 3]");
  EXPECT_REFUSED(patches_of(at::Tensor(), config), "not undefined");
  EXPECT_REFUSED(patches_of_video(at::zeros({4, 4, 3}, at::kByte), VideoConfig{}), "[F, H, W, 3]");
  ProcessorConfig unresized;
  unresized.do_resize = false;
  EXPECT_REFUSED(patches_of(at::zeros({28, 30, 3}, at::kByte), unresized),
                 "30x28 pixels are not resized (do_resize is false) and must be multiples");
  EXPECT_REFUSED(vision::pixels_from_name("nearest"),
                 "pillow, pillow-12 and torchvision are known");
  EXPECT_EQ(vision::pixels_from_name("torchvision"), Pixels::kTorchvision);
}

}  // namespace
}  // namespace intarsia::test
