#include "app/vision_common.h"

#include <intarsia/picture.h>

#include <sstream>

#include "aten.h"
#include "check.h"

namespace intarsia::app {

namespace fs = std::filesystem;

namespace {

Input picture_input(const std::string& file, const Processors& p) {
  const PictureInfo info = read_picture_info(file);
  check(info.width * info.height <= p.limits.max_pixels, file, " has ", info.width, "x",
        info.height, " pixels; at most ", p.limits.max_pixels, " are read (--max-pixels)");
  return {.file = file,
          .grid = vision::grid_of(info.width, info.height, p.picture),
          .width = info.width,
          .height = info.height};
}

Input video_input(const std::string& file, const Processors& p) {
  const auto video = VideoReader::open(file, {.limits = p.limits});
  const bool folder = fs::is_directory(file);
  const auto& times = video->info().times;
  const auto taken =
      folder ? std::vector<int64_t>() : vision::sample_frames(video->info(), p.video);
  std::vector<double> shown;
  for (const int64_t i : taken) shown.push_back(times[i]);
  if (folder) shown = times;
  const auto frames = int64_t(shown.size());
  return {.file = file,
          .grid = vision::grid_of_video(frames, video->info().width, video->info().height, p.video),
          .width = video->info().width,
          .height = video->info().height,
          .times = vision::patch_times(shown, p.video.temporal_patch_size)};
}

Input input_of(const std::string& file, const Processors& p) {
  try {
    const bool picture = fs::is_regular_file(file) && is_picture(file);
    return picture ? picture_input(file, p) : video_input(file, p);
  } catch (const std::invalid_argument& e) {
    return {.file = file, .error = e.what()};
  }
}

at::Tensor patches_of_input(const Input& input, const Processors& p) {
  if (input.times.empty()) return vision::patches_of(input.file, p.picture, p.pixels).values;
  const auto video = VideoReader::open(input.file, {.limits = p.limits});
  return vision::patches_of_video(*video, p.video, fs::is_directory(input.file)).patches.values;
}

std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    char* end = nullptr;
    numbers.push_back(std::strtoll(word.c_str(), &end, 10));
    check(!word.empty() && *end == '\0', "\"", text, "\" is not a list as 1024,2048,8192");
  }
  return numbers;
}

}  // namespace

Processors processors_of(const VisionFlags& flags, const std::string& model) {
  return {vision::read_processor_config(model),
          vision::read_video_config(model),
          vision::pixels_from_name(flags.resize),
          {.max_pixels = flags.max_pixels}};
}

std::vector<Input> inputs_of(const std::vector<std::string>& files, const Processors& processors) {
  std::vector<Input> inputs;
  for (const std::string& file : files) inputs.push_back(input_of(file, processors));
  return inputs;
}

Items items_of(const std::vector<Input>& inputs, const Processors& processors) {
  Items out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].error.empty()) continue;
    out.items.push_back({inputs[i].file, inputs[i].grid, [input = inputs[i], &processors] {
                           return patches_of_input(input, processors);
                         }});
    out.inputs.push_back(i);
  }
  return out;
}

vision::LoadOptions load_options(const Common& common, const VisionFlags& flags) {
  check(flags.tp_fallback == "refuse" || flags.tp_fallback == "replicate", "--tp-fallback ",
        flags.tp_fallback, " is not known; use refuse or replicate");
  return {.tp = flags.tp,
          .dp = flags.dp,
          .dtype = dtype_of(common.dtype),
          .device = device_of(common.device),
          .replicate_if_illegal = flags.tp_fallback == "replicate"};
}

vision::EncodeOptions encode_options(const VisionFlags& flags) {
  using Split = vision::EncodeOptions::Split;
  check(flags.packing == "none" || flags.packing == "blocks", "--packing ", flags.packing,
        " is not known; use none or blocks");
  check(flags.split == "auto" || flags.split == "never" || flags.split == "always", "--split ",
        flags.split, " is not known; use auto, never or always");
  vision::EncodeOptions options;
  if (flags.packing == "blocks") options.block_size = flags.block_size;
  if (!flags.buckets.empty()) options.buckets = numbers_of(flags.buckets);
  options.split = flags.split == "auto"    ? Split::kAuto
                  : flags.split == "never" ? Split::kNever
                                           : Split::kAlways;
  return options;
}

std::string text_of(const vision::Grid& grid) { return c10::str(grid.t, "x", grid.h, "x", grid.w); }

}  // namespace intarsia::app
