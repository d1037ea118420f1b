#include <intarsia/vision_input.h>

#include <algorithm>
#include <cmath>

#include "check.h"
#include "vision/config_json.h"

namespace intarsia::vision {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 40;

// The classes, without the suffixes that say which backend computes.
const std::vector<std::string> kPictureClasses = {"Qwen2VLImageProcessor",
                                                  "Qwen2_5_VLImageProcessor",
                                                  "Qwen3VLImageProcessor", "Qwen3_5ImageProcessor"};
constexpr const char* kQwen2Video = "Qwen2VLVideoProcessor";
constexpr const char* kQwen3Video = "Qwen3VLVideoProcessor";

std::string without_backend(std::string name) {
  for (const std::string suffix : {"Fast", "Pil"})
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

void check_filter(const ConfigJson& json) {
  if (!json.has("resample")) return;
  const auto& filter = json.object.at("resample");
  check(filter == 3 || filter == "bicubic", json.file, ": resample is ", filter.dump(),
        "; only 3 (bicubic) is supported");
}

void check_absent(const ConfigJson& json) {
  for (const std::string key : {"do_center_crop", "do_pad"}) {
    bool wanted = false;
    json.read(key, wanted);
    check(!wanted, json.file, ": ", key, " is true; it is not supported, Qwen's processors resize");
  }
}

// min_pixels and max_pixels beside `size` win over those inside, as in transformers.
void read_budget(const ConfigJson& json, ProcessorConfig& config) {
  if (json.has("size")) {
    const ConfigJson size{json.file + ": size", json.object.at("size")};
    check(size.object.is_object() && !size.has("height") && !size.has("width"), json.file,
          ": size is ", size.object.dump(), "; it has shortest_edge and longest_edge, in pixels");
    size.read("min_pixels", config.min_pixels);
    size.read("max_pixels", config.max_pixels);
    size.read("shortest_edge", config.min_pixels);
    size.read("longest_edge", config.max_pixels);
  }
  json.read("min_pixels", config.min_pixels);
  json.read("max_pixels", config.max_pixels);
  check(config.min_pixels >= 1 && config.min_pixels <= config.max_pixels &&
            config.max_pixels <= kMostPixels,
        json.file, ": the budget is from ", config.min_pixels, " to ", config.max_pixels,
        " pixels; the first must be 1 or more and at most the second, that at most ", kMostPixels);
}

void check_count(const ConfigJson& json, const char* key, int64_t value, int64_t most) {
  check(value >= 1 && value <= most, json.file, ": ", key, " is ", value, "; it must be from 1 to ",
        most);
}

void check_values(const ConfigJson& json, const ProcessorConfig& config) {
  check_count(json, "patch_size", config.patch_size, 256);
  check_count(json, "temporal_patch_size", config.temporal_patch_size, 64);
  check_count(json, "merge_size", config.merge_size, 64);
  check(config.rescale_factor > 0 && std::isfinite(config.rescale_factor), json.file,
        ": rescale_factor is ", config.rescale_factor, "; it must be above 0");
  for (const double std : config.std)
    check(std > 0 && std::isfinite(std), json.file, ": image_std has ", std,
          "; it is divided by and must be above 0");
  for (const double mean : config.mean)
    check(std::isfinite(mean), json.file, ": image_mean has ", mean, "; it must be finite");
}

void read_common(const ConfigJson& json, ProcessorConfig& config) {
  check_filter(json);
  check_absent(json);
  json.read("patch_size", config.patch_size);
  json.read("temporal_patch_size", config.temporal_patch_size);
  json.read("merge_size", config.merge_size);
  json.read("image_mean", config.mean);
  json.read("image_std", config.std);
  json.read("rescale_factor", config.rescale_factor);
  json.read("do_resize", config.do_resize);
  json.read("do_rescale", config.do_rescale);
  json.read("do_normalize", config.do_normalize);
  read_budget(json, config);
  check_values(json, config);
}

VideoConfig defaults_of(const std::string& video_class) {
  VideoConfig config;
  config.name = video_class;
  config.min_pixels = int64_t{128} * 28 * 28;
  config.max_pixels = int64_t{768} * 28 * 28;
  if (video_class != kQwen3Video) return config;
  config.rule = VideoConfig::Rule::kAllFrames;
  config.patch_size = 16;
  config.min_pixels = int64_t{128} * 32 * 32;
  config.max_pixels = int64_t{768} * 32 * 32;
  config.mean = config.std = {0.5, 0.5, 0.5};
  config.max_video_tokens = 768;
  return config;
}

std::string video_class(const ConfigJson& json) {
  std::string name;
  json.read("video_processor_type", name);
  if (name.empty()) {  // a model from before videos had a config of their own
    std::string kind, processor;
    json.read("image_processor_type", kind);
    json.read("processor_class", processor);
    return (kind + processor).find("Qwen3") != std::string::npos ? kQwen3Video : kQwen2Video;
  }
  check(name == kQwen2Video || name == kQwen3Video, json.file, ": video_processor_type is ", name,
        "; supported: ", kQwen2Video, ", ", kQwen3Video);
  return name;
}

void read_sampling(const ConfigJson& json, VideoConfig& config) {
  json.read("fps", config.fps);
  json.read("min_frames", config.min_frames);
  json.read("max_frames", config.max_frames);
  json.read("cap_pixels_per_frame", config.cap_pixels_per_frame);
  json.read("max_video_tokens", config.max_video_tokens);
  if (json.has("num_frames")) json.read("num_frames", config.num_frames.emplace());
  constexpr int64_t kMostFrames = 1 << 20;
  check(config.fps > 0 && std::isfinite(config.fps), json.file, ": fps is ", config.fps,
        "; it must be above 0");
  check_count(json, "max_frames", config.max_frames, kMostFrames);
  check_count(json, "min_frames", config.min_frames, config.max_frames);
  check_count(json, "max_video_tokens", config.max_video_tokens, 1 << 30);
  if (config.num_frames) check_count(json, "num_frames", *config.num_frames, kMostFrames);
}

}  // namespace

ProcessorConfig read_processor_config(const std::filesystem::path& path) {
  const auto json = find_config(path, "preprocessor_config.json", "image_processor");
  check(json.has_value(), path.string(),
        " has no preprocessor_config.json, nor a processor_config.json with an image_processor");
  ProcessorConfig config;
  json->read("image_processor_type", config.name);
  const std::string name = without_backend(config.name);
  check(std::count(kPictureClasses.begin(), kPictureClasses.end(), name) == 1, json->file,
        ": image_processor_type is ", config.name,
        "; supported: ", c10::Join(", ", kPictureClasses), " (also with Fast or Pil behind)");
  read_common(*json, config);
  return config;
}

VideoConfig read_video_config(const std::filesystem::path& path) {
  auto json = find_config(path, "video_preprocessor_config.json", "video_processor");
  if (!json) json = find_config(path, "preprocessor_config.json", "image_processor");
  check(json.has_value(), path.string(),
        " has no video_preprocessor_config.json, preprocessor_config.json or "
        "processor_config.json");
  VideoConfig config = defaults_of(video_class(*json));
  read_common(*json, config);
  read_sampling(*json, config);
  return config;
}

}  // namespace intarsia::vision
