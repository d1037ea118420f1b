#include <intarsia/picture.h>
#include <intarsia/video.h>
#include <intarsia/vision_input.h>

#include <numeric>

#include "aten.h"
#include "check.h"
#include "io/eight_bits.h"
#include "io/resize.h"
#include "vision/pixel_values.h"

namespace intarsia::vision {
namespace {

io::Resizer resizer_of(Pixels pixels) {
  switch (pixels) {
    case Pixels::kPillow12:
      return io::Resizer::kPillow12;
    case Pixels::kTorchvision:
      return io::Resizer::kTorchvision;
    default:
      return io::Resizer::kPillow;
  }
}

Patches room_for(const Grid& grid, const ProcessorConfig& config) {
  return {at::empty({grid.patches(), config.features()}, at::kFloat), grid};
}

// Fills temporal patches frame by frame.
class Filler {
 public:
  Filler(Patches& patches, const ProcessorConfig& config, Pixels pixels)
      : patches_(patches),
        config_(config),
        resizer_(resizer_of(pixels)),
        levels_(levels_of(config, pixels)) {}

  /// repeats: how many frames of its temporal patch it is.
  void add(const at::Tensor& rgb, int64_t repeats = 1) {
    const Grid& grid = patches_.grid;
    last_ = io::resize(rgb, grid.h * config_.patch_size, grid.w * config_.patch_size, resizer_);
    write(repeats);
  }
  /// The last frame fills what is left of its temporal patch.
  void finish() {
    const int64_t left = patches_.grid.t * config_.temporal_patch_size - frames_;
    TORCH_INTERNAL_ASSERT(left >= 0 && left < config_.temporal_patch_size);
    if (left > 0) write(left);
  }

 private:
  void write(int64_t repeats) {
    const int64_t patch = frames_ / config_.temporal_patch_size;
    const int64_t floats = patches_.grid.h * patches_.grid.w * config_.features();
    write_frame(last_, patches_.grid, config_, levels_, frames_ % config_.temporal_patch_size,
                repeats, patches_.values.data_ptr<float>() + patch * floats);
    frames_ += repeats;
  }

  Patches& patches_;
  const ProcessorConfig& config_;
  io::Resizer resizer_;
  Levels levels_;
  at::Tensor last_;
  int64_t frames_ = 0;
};

void check_rgb(const at::Tensor& rgb, int64_t dims, const char* shape) {
  check(
      rgb.defined() && rgb.scalar_type() == at::kByte && rgb.dim() == dims &&
          rgb.size(dims - 1) == 3 && rgb.numel() > 0 && rgb.device().is_cpu(),
      "pixels to cut into patches must be uint8 ", shape, " on the CPU",
      rgb.defined() ? c10::str(", not ", rgb.scalar_type(), " ", rgb.sizes()) : ", not undefined");
}

// What went wrong, and where.
template <class Work>
auto named(const std::string& name, Work work) {
  try {
    return work();
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(name + ": " + e.what());
  }
}

}  // namespace

Pixels pixels_from_name(const std::string& name) {
  if (name == "pillow") return Pixels::kPillow;
  if (name == "pillow-12") return Pixels::kPillow12;
  if (name == "torchvision") return Pixels::kTorchvision;
  check(false, "cannot resize as ", name, "; pillow, pillow-12 and torchvision are known");
  return Pixels::kPillow;
}

Patches patches_of(const at::Tensor& rgb, const ProcessorConfig& config, Pixels pixels) {
  check_rgb(rgb, 3, "[H, W, 3]");
  Patches patches = room_for(grid_of(rgb.size(1), rgb.size(0), config), config);
  Filler filler(patches, config, pixels);
  filler.add(rgb, config.temporal_patch_size);
  filler.finish();
  return patches;
}

Patches patches_of(const std::filesystem::path& picture, const ProcessorConfig& config,
                   Pixels pixels) {
  const PictureInfo info = read_picture_info(picture);
  // The size is refused before a pixel is decoded.
  named(picture.string(), [&] { return grid_of(info.width, info.height, config); });
  const at::Tensor rgb = io::eight_bits(read_picture(picture));
  return named(picture.string(), [&] { return patches_of(rgb, config, pixels); });
}

Patches patches_of_video(const at::Tensor& frames, const VideoConfig& config) {
  check_rgb(frames, 4, "[F, H, W, 3]");
  Patches patches =
      room_for(grid_of_video(frames.size(0), frames.size(2), frames.size(1), config), config);
  Filler filler(patches, config, Pixels::kTorchvision);
  for (int64_t i = 0; i < frames.size(0); ++i) filler.add(frames[i]);
  filler.finish();
  return patches;
}

VideoPatches patches_of_video(VideoReader& video, const VideoConfig& config, bool all) {
  const VideoInfo& info = video.info();
  VideoPatches result;
  if (all) {
    result.frames.resize(static_cast<size_t>(info.frames()));
    std::iota(result.frames.begin(), result.frames.end(), 0);
  } else {
    result.frames = named(video.name(), [&] { return sample_frames(info, config); });
  }
  const auto count = static_cast<int64_t>(result.frames.size());
  const Grid grid =
      named(video.name(), [&] { return grid_of_video(count, info.width, info.height, config); });
  result.patches = room_for(grid, config);
  Filler filler(result.patches, config, Pixels::kTorchvision);
  result.notes =
      video.read(result.frames, [&](int64_t, const at::Tensor& rgb) { filler.add(rgb); });
  filler.finish();
  for (const int64_t frame : result.frames)
    result.times.push_back(info.times[static_cast<size_t>(frame)]);
  result.times = patch_times(std::move(result.times), config.temporal_patch_size);
  const double sampled_rate = double(count) / double(info.frames()) * info.rate;
  result.seconds_per_patch = double(config.temporal_patch_size) / sampled_rate;
  return result;
}

}  // namespace intarsia::vision
