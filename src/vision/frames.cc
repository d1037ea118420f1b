#include <intarsia/video.h>
#include <intarsia/vision_input.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "aten.h"
#include "check.h"

namespace intarsia::vision {
namespace {

int64_t clamped(double frames, int64_t least, int64_t most, int64_t total) {
  const double wanted = std::max(frames, double(least));
  return static_cast<int64_t>(std::min({wanted, double(most), double(total)}));
}

// Positions from the first frame to the last, as np.linspace makes them.
std::vector<double> spread(int64_t total, double rate, const VideoConfig& config) {
  const double wanted = config.num_frames ? double(*config.num_frames)
                                          : std::floor(double(total) / rate * config.fps);
  const int64_t least = config.num_frames ? 1 : config.min_frames;
  const int64_t most = config.num_frames ? *config.num_frames : config.max_frames;
  const int64_t count = clamped(wanted, least, most, total);
  const double step = count > 1 ? double(total - 1) / double(count - 1) : 0;
  std::vector<double> positions(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) positions[i] = double(i) * step;
  if (count > 1) positions.back() = double(total - 1);
  return positions;
}

int64_t whole_patches(double frames, int64_t patch) {
  return static_cast<int64_t>(std::floor(frames / double(patch))) * patch;
}

// An even count of positions, the first of equal shares of the video, as torch.arange makes them.
std::vector<double> shares(int64_t total, double rate, const VideoConfig& config) {
  const int64_t patch = config.temporal_patch_size;
  int64_t count = 0;
  if (config.num_frames) {
    count =
        static_cast<int64_t>(std::nearbyint(double(*config.num_frames) / double(patch))) * patch;
    count = std::min(count, whole_patches(double(total), patch));
  } else {
    const auto most = double(whole_patches(double(std::min(config.max_frames, total)), patch));
    double wanted = std::max(double(total) / rate * config.fps, double(config.min_frames));
    wanted = std::min({wanted, most, double(total)});
    count = whole_patches(wanted, patch);
  }
  if (count == 0) count = std::min(total, patch);  // shorter than a temporal patch: all of it
  const at::Tensor steps =
      at::arange(0, double(total), double(total) / double(count), at::kFloat).to(at::kDouble);
  std::vector<double> positions(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    positions[i] = std::min(steps[i].item<double>(), double(total - 1));
  return positions;
}

// Where in `times` the moment lies: 2.25 is a quarter of the way from frame 2 to frame 3.
double position_of(double moment, const std::vector<double>& times) {
  const auto next = std::upper_bound(times.begin(), times.end(), moment);
  if (next == times.begin()) return 0;
  const auto before = double(next - times.begin() - 1);
  if (next == times.end()) return before;
  return before + (moment - *(next - 1)) / (*next - *(next - 1));
}

void check_video(int64_t total, double rate) {
  check(total >= 1, "cannot sample a video of ", total, " frames; it must have 1 or more");
  check(rate > 0 && std::isfinite(rate), "cannot sample a video of ", rate,
        " frames a second; it must be above 0");
}

}  // namespace

std::vector<int64_t> sample_frames(int64_t total, double rate, const VideoConfig& config) {
  check_video(total, rate);
  const bool is_spread = config.rule == VideoConfig::Rule::kAllFrames;
  std::vector<int64_t> frames;
  for (const double p : is_spread ? spread(total, rate, config) : shares(total, rate, config))
    frames.push_back(static_cast<int64_t>(is_spread ? std::nearbyint(p) : std::floor(p)));
  return frames;
}

std::vector<int64_t> sample_frames(const VideoInfo& video, const VideoConfig& config) {
  const int64_t total = video.frames();
  if (video.constant || total < 2) return sample_frames(total, video.rate, config);
  check_video(total, video.rate);
  const bool is_spread = config.rule == VideoConfig::Rule::kAllFrames;
  const double first = video.times.front(), last = video.times.back();
  // Spread: from the first frame to the last. Shares: the last frame is shown for a while, too.
  const double length = is_spread ? last - first : double(total) / video.rate;
  const double count = double(is_spread ? total - 1 : total);
  std::vector<int64_t> frames;
  for (const double p :
       is_spread ? spread(total, video.rate, config) : shares(total, video.rate, config)) {
    const double at = position_of(first + p / count * length, video.times);
    frames.push_back(static_cast<int64_t>(is_spread ? std::nearbyint(at) : std::floor(at)));
  }
  return frames;
}

std::vector<double> patch_times(std::vector<double> times, int64_t temporal_patch_size) {
  check(temporal_patch_size >= 1, "a temporal patch of ", temporal_patch_size,
        " frames; it must have 1 or more");
  while (!times.empty() && times.size() % temporal_patch_size != 0) times.push_back(times.back());
  std::vector<double> means;
  for (size_t i = 0; i < times.size(); i += temporal_patch_size)
    means.push_back((times[i] + times[i + temporal_patch_size - 1]) / 2);
  return means;
}

std::string time_words(double seconds) {
  char digits[400];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, seconds, std::chars_format::fixed, 1);
  return "<" + std::string(digits, end.ptr) + " seconds>";
}

}  // namespace intarsia::vision
