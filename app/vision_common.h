#pragma once
#include <intarsia/video.h>
#include <intarsia/vision.h>

#include <nlohmann/json.hpp>

#include "app/verbs.h"

namespace intarsia::app {

/// A picture or video that was asked for: its grid from headers alone, or why there is none.
struct Input {
  std::string file;
  vision::Grid grid;
  int64_t width = 0, height = 0;  ///< as shown
  std::vector<double> times;      ///< videos: of each temporal patch, seconds
  std::string error;
};

/// A model's processors, as its folder or the flags say.
struct Processors {
  vision::ProcessorConfig picture;
  vision::VideoConfig video;
  vision::Pixels pixels;
  PictureLimits limits;
};
Processors processors_of(const VisionFlags& flags, const std::string& model);

/// Reads headers only. A file that cannot be read gets an error, others go on.
std::vector<Input> inputs_of(const std::vector<std::string>& files, const Processors& processors);
/// Items of the inputs without an error, and which inputs they are.
struct Items {
  std::vector<vision::Item> items;
  std::vector<size_t> inputs;
};
Items items_of(const std::vector<Input>& inputs, const Processors& processors);

vision::LoadOptions load_options(const Common& common, const VisionFlags& flags);
vision::EncodeOptions encode_options(const VisionFlags& flags);

/// "3x22x32"
std::string text_of(const vision::Grid& grid);

}  // namespace intarsia::app
