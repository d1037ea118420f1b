#include "vision/pixel_values.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "aten.h"

namespace intarsia::vision {
namespace {

// The PIL processors rescale in double, round to float, then normalise in float.
float level_as_pillow(int v, const ProcessorConfig& config, size_t channel) {
  float value = config.do_rescale ? static_cast<float>(double(v) * config.rescale_factor)
                                  : static_cast<float>(v);
  if (config.do_normalize)
    value = (value - static_cast<float>(config.mean[channel])) /
            static_cast<float>(config.std[channel]);
  return value;
}

// The torchvision processors scale mean and deviation instead of the pixels.
float level_as_torchvision(int v, const ProcessorConfig& config, size_t channel) {
  const auto value = static_cast<float>(v);
  if (!config.do_normalize)
    return config.do_rescale ? value * static_cast<float>(config.rescale_factor) : value;
  const auto scale = static_cast<float>(config.do_rescale ? 1.0 / config.rescale_factor : 1.0);
  const float mean = static_cast<float>(config.mean[channel]) * scale;
  const float std = static_cast<float>(config.std[channel]) * scale;
  return (value - mean) / std;
}

// One patch of one frame; from: its first pixel, to: its row of values.
void write_patch(const uint8_t* from, int64_t width, const ProcessorConfig& config,
                 const Levels& levels, int64_t slot, int64_t repeats, float* to) {
  const int64_t p = config.patch_size;
  for (int64_t c = 0; c < 3; ++c) {
    const auto& level = levels[static_cast<size_t>(c)];
    float* plane = to + (c * config.temporal_patch_size + slot) * p * p;
    for (int64_t y = 0; y < p; ++y)
      for (int64_t x = 0; x < p; ++x) plane[y * p + x] = level[from[(y * width + x) * 3 + c]];
    for (int64_t r = 1; r < repeats; ++r) std::copy_n(plane, p * p, plane + r * p * p);
  }
}

}  // namespace

Levels levels_of(const ProcessorConfig& config, Pixels pixels) {
  Levels levels;
  for (size_t c = 0; c < 3; ++c)
    for (int v = 0; v < 256; ++v)
      levels[c][static_cast<size_t>(v)] = pixels == Pixels::kTorchvision
                                              ? level_as_torchvision(v, config, c)
                                              : level_as_pillow(v, config, c);
  return levels;
}

void write_frame(const at::Tensor& rgb, const Grid& grid, const ProcessorConfig& config,
                 const Levels& levels, int64_t slot, int64_t repeats, float* values) {
  TORCH_INTERNAL_ASSERT(rgb.is_contiguous() && rgb.size(0) == grid.h * config.patch_size &&
                        rgb.size(1) == grid.w * config.patch_size);
  const auto* pixels = rgb.const_data_ptr<uint8_t>();
  const int64_t m = config.merge_size, p = config.patch_size, width = rgb.size(1);
  at::parallel_for(0, grid.h, m, [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      for (int64_t x = 0; x < grid.w; ++x) {
        const int64_t cell = (y / m) * (grid.w / m) + x / m;
        const int64_t row = (cell * m + y % m) * m + x % m;
        write_patch(pixels + (y * p * width + x * p) * 3, width, config, levels, slot, repeats,
                    values + row * config.features());
      }
    }
  });
}

}  // namespace intarsia::vision
