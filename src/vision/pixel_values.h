#pragma once
#include <intarsia/vision_input.h>

namespace intarsia::vision {

/// What each of the 256 grey levels becomes, by channel: exactly the floats of the processor.
using Levels = std::array<std::array<float, 256>, 3>;
Levels levels_of(const ProcessorConfig& config, Pixels pixels);

/// Writes a frame, resized to the grid's size, as frames [slot, slot + repeats) of a temporal
/// patch. values: that patch's rows [grid.h · grid.w, config.features()].
void write_frame(const at::Tensor& rgb, const Grid& grid, const ProcessorConfig& config,
                 const Levels& levels, int64_t slot, int64_t repeats, float* values);

}  // namespace intarsia::vision
