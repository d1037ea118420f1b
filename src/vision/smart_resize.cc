#include <intarsia/vision_input.h>

#include <algorithm>
#include <cmath>

#include "check.h"

namespace intarsia::vision {
namespace {

constexpr int64_t kLongest = int64_t{1} << 20;
constexpr int64_t kMostFrames = int64_t{1} << 20;
constexpr double kLargestRatio = 200;

// The nearest multiple, halves to the even one: 720 / 32 = 22.5 gives 22.
int64_t rounded(int64_t side, int64_t factor) {
  return static_cast<int64_t>(std::nearbyint(double(side) / double(factor))) * factor;
}

void check_sides(int64_t height, int64_t width) {
  check(height >= 1 && width >= 1 && height <= kLongest && width <= kLongest, width, "x", height,
        " pixels cannot be cut into patches; a side has from 1 to ", kLongest);
}

void check_size(int64_t height, int64_t width) {
  check_sides(height, width);
  const double ratio = double(std::max(height, width)) / double(std::min(height, width));
  check(ratio <= kLargestRatio, width, "x", height, " pixels: one side is ", ratio,
        " times the other; up to ", kLargestRatio, " times is allowed, crop it");
}

struct Budget {
  int64_t min_pixels;
  int64_t max_pixels;
};

// frames: counted by the rounding, `shown` those that share the budget's square root.
Size fit(int64_t frames, int64_t shown, int64_t height, int64_t width, int64_t factor,
         const Budget& budget) {
  Size size{rounded(height, factor), rounded(width, factor)};
  const int64_t pixels = frames * size.height * size.width;
  const auto area = double(shown * height * width);
  if (pixels > budget.max_pixels) {
    const double beta = std::sqrt(area / double(budget.max_pixels));
    const auto shrunk = [&](int64_t side) {
      const auto patches = static_cast<int64_t>(std::floor(double(side) / beta / double(factor)));
      return std::max(factor, patches * factor);
    };
    return {shrunk(height), shrunk(width)};
  }
  if (pixels < budget.min_pixels) {
    const double beta = std::sqrt(double(budget.min_pixels) / area);
    const auto grown = [&](int64_t side) {
      return static_cast<int64_t>(std::ceil(double(side) * beta / double(factor))) * factor;
    };
    return {grown(height), grown(width)};
  }
  return {std::max(factor, size.height), std::max(factor, size.width)};
}

// Each frame's share of the pixels where it is capped, as the video processors do on request.
int64_t capped_pixels(int64_t frames, const VideoConfig& config) {
  const int64_t area = config.factor() * config.factor();
  const auto least = static_cast<int64_t>(double(config.min_pixels) * 1.05);
  if (config.rule == VideoConfig::Rule::kAllFrames) {
    const int64_t cap = std::min(config.max_video_tokens * area, config.max_pixels / frames);
    return std::max(cap, least) * frames;
  }
  const auto total = static_cast<int64_t>(double(config.max_video_tokens * area) * 0.9);
  return std::max(std::min(config.max_pixels, total * config.temporal_patch_size / frames), least);
}

// Qwen3's rule for videos: small frames are first scaled up to a merge cell.
Size fit_all_frames(int64_t frames, int64_t height, int64_t width, const VideoConfig& config,
                    const Budget& budget) {
  const int64_t factor = config.factor();
  if (height < factor || width < factor) {
    const double scale = std::max(double(factor) / double(height), double(factor) / double(width));
    height = static_cast<int64_t>(double(height) * scale);
    width = static_cast<int64_t>(double(width) * scale);
  }
  check_size(height, width);
  return fit(rounded(frames, config.temporal_patch_size), frames, height, width, factor, budget);
}

Size unresized(int64_t height, int64_t width, const ProcessorConfig& config) {
  check_size(height, width);
  check(height % config.factor() == 0 && width % config.factor() == 0, width, "x", height,
        " pixels are not resized (do_resize is false) and must be multiples of patch_size × "
        "merge_size = ",
        config.factor());
  return {height, width};
}

}  // namespace

Size smart_resize(int64_t height, int64_t width, int64_t factor, int64_t min_pixels,
                  int64_t max_pixels) {
  check(factor >= 1 && min_pixels >= 1 && min_pixels <= max_pixels, "a factor of ", factor,
        " and a budget from ", min_pixels, " to ", max_pixels,
        " pixels cannot be; all are 1 or more, the budget ascending");
  check_size(height, width);
  return fit(1, 1, height, width, factor, {min_pixels, max_pixels});
}

Size smart_resize(int64_t frames, int64_t height, int64_t width, const VideoConfig& config) {
  check(frames >= 1 && frames <= kMostFrames, "a video of ", frames, " frames; 1 to ", kMostFrames,
        " work");
  check_sides(height, width);
  const int64_t counted = std::max(frames, config.temporal_patch_size);
  const Budget budget{config.min_pixels, config.cap_pixels_per_frame
                                             ? capped_pixels(counted, config)
                                             : config.max_pixels};
  if (config.rule == VideoConfig::Rule::kAllFrames)
    return fit_all_frames(counted, height, width, config, budget);
  check_size(height, width);
  return fit(1, 1, height, width, config.factor(), budget);
}

Grid grid_of(int64_t width, int64_t height, const ProcessorConfig& config) {
  const Size size = config.do_resize ? smart_resize(height, width, config.factor(),
                                                    config.min_pixels, config.max_pixels)
                                     : unresized(height, width, config);
  return {1, size.height / config.patch_size, size.width / config.patch_size};
}

Grid grid_of_video(int64_t frames, int64_t width, int64_t height, const VideoConfig& config) {
  const Size size = config.do_resize ? smart_resize(frames, height, width, config)
                                     : unresized(height, width, config);
  const int64_t patches = (frames + config.temporal_patch_size - 1) / config.temporal_patch_size;
  return {patches, size.height / config.patch_size, size.width / config.patch_size};
}

}  // namespace intarsia::vision
