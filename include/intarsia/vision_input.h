#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Pictures and videos as the patches that Qwen's vision encoders take.
namespace intarsia {
class VideoReader;
struct VideoInfo;
}  // namespace intarsia
namespace intarsia::vision {

/// Patches of one item: temporal patches × rows × columns.
struct Grid {
  int64_t t = 1;
  int64_t h = 0;
  int64_t w = 0;
  int64_t patches() const { return t * h * w; }
  int64_t merged(int64_t merge) const { return patches() / (merge * merge); }
  bool operator==(const Grid&) const = default;
};

/// Whose arithmetic pixels are resized and normalised with; they differ by up to two grey levels.
enum class Pixels {
  kPillow,       ///< transformers' PIL processors, with Pillow 13
  kPillow12,     ///< the same with Pillow 12 or older; differs for tall pictures
  kTorchvision,  ///< transformers' torchvision processors; videos always use these
};
/// "pillow", "pillow-12", "torchvision". Throws std::invalid_argument for other names.
Pixels pixels_from_name(const std::string& name);

/// What preprocessor_config.json says. Defaults: Qwen2-VL's.
struct ProcessorConfig {
  std::string name = "Qwen2VLImageProcessor";  ///< its class
  int64_t patch_size = 14;
  int64_t temporal_patch_size = 2;
  int64_t merge_size = 2;
  int64_t min_pixels = 56 * 56;         ///< of a picture, after resizing
  int64_t max_pixels = 28 * 28 * 1280;  ///< of a picture, after resizing
  std::array<double, 3> mean = {0.48145466, 0.4578275, 0.40821073};
  std::array<double, 3> std = {0.26862954, 0.26130258, 0.27577711};
  double rescale_factor = 1.0 / 255;
  bool do_resize = true;
  bool do_rescale = true;
  bool do_normalize = true;
  int64_t factor() const { return patch_size * merge_size; }  ///< sides are multiples of it
  int64_t features() const { return 3 * temporal_patch_size * patch_size * patch_size; }
};

/// What video_preprocessor_config.json says: min_pixels and max_pixels count the pixels of one
/// frame (Qwen2-VL, Qwen2.5-VL) or of all frames together (Qwen3-VL, Qwen3.5).
struct VideoConfig : ProcessorConfig {
  enum class Rule { kFrame, kAllFrames };
  Rule rule = Rule::kFrame;
  double fps = 2;  ///< frames a second that are taken
  int64_t min_frames = 4;
  int64_t max_frames = 768;
  std::optional<int64_t> num_frames;  ///< instead of fps
  bool cap_pixels_per_frame = false;
  int64_t max_video_tokens = 128000;  ///< what the cap is made of; kAllFrames: a frame, kFrame: all
};

/// path: the file, or a model's folder (preprocessor_config.json, or processor_config.json with the
/// two inside). A folder without a config for videos: its config for pictures, by its family.
/// Throws std::invalid_argument naming file and key: unknown class or filter, values that cannot
/// be.
ProcessorConfig read_processor_config(const std::filesystem::path& path);
VideoConfig read_video_config(const std::filesystem::path& path);

struct Size {
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const Size&) const = default;
};
/// The size a picture is resized to: multiples of factor, about its proportions, within the budget
/// of pixels. Rounds half to even. Throws std::invalid_argument if a side is below 1, or one is
/// more than 200 times the other.
Size smart_resize(int64_t height, int64_t width, int64_t factor, int64_t min_pixels,
                  int64_t max_pixels);
/// The same for frames of a video; a video of fewer frames than a temporal patch is counted as one.
Size smart_resize(int64_t frames, int64_t height, int64_t width, const VideoConfig& config);

/// From sizes alone.
Grid grid_of(int64_t width, int64_t height, const ProcessorConfig& config);
Grid grid_of_video(int64_t frames, int64_t width, int64_t height, const VideoConfig& config);

/// Rows run over merge cells (temporal patch, cell row, cell column, then within the cell),
/// features over (channel, frame, y, x): pixel_values of transformers, bit for bit.
struct Patches {
  at::Tensor values;  ///< float32 [grid.patches(), config.features()]
  Grid grid;
};

/// rgb: uint8 [H, W, 3]. Throws std::invalid_argument if it is not, or its size is refused.
Patches patches_of(const at::Tensor& rgb, const ProcessorConfig& config,
                   Pixels pixels = Pixels::kPillow);
/// Reads, turns, lays on white, and takes 16 bits to 8 (the high byte).
Patches patches_of(const std::filesystem::path& picture, const ProcessorConfig& config,
                   Pixels pixels = Pixels::kPillow);
/// rgb: uint8 [F, H, W, 3], all frames taken; the last one is repeated to fill a temporal patch.
Patches patches_of_video(const at::Tensor& frames, const VideoConfig& config);

/// Which of `total` frames shown at `rate` a second are taken, ascending. Qwen3's rule spreads them
/// from the first frame to the last, Qwen2's takes every k-th and an even count.
std::vector<int64_t> sample_frames(int64_t total, double rate, const VideoConfig& config);
/// The same of a video; where its frames are not evenly spaced, evenly in time.
std::vector<int64_t> sample_frames(const VideoInfo& video, const VideoConfig& config);
/// Of each temporal patch, the mean of its first and last frame's time. times: of the frames taken.
std::vector<double> patch_times(std::vector<double> times, int64_t temporal_patch_size);
/// As in Qwen3's prompts: "<0.2 seconds>".
std::string time_words(double seconds);

struct VideoPatches {
  Patches patches;
  std::vector<int64_t> frames;   ///< which were taken
  std::vector<double> times;     ///< of each temporal patch, seconds
  double seconds_per_patch = 0;  ///< Qwen2.5's second_per_grid_ts
  std::vector<std::string> notes;
};
/// Samples, resizes each frame as it is decoded, so that one is held at a time. `all`: every frame,
/// as for folders of frames that were taken before.
VideoPatches patches_of_video(VideoReader& video, const VideoConfig& config, bool all = false);

}  // namespace intarsia::vision
