#pragma once
#include <intarsia/video.h>

#include <string_view>

namespace intarsia::io {

/// Sets times (from the first, evenly spaced ones exactly i / rate), rate and constant. seconds:
/// when each frame is shown, ascending, one or more. stated: the rate that the file claims, 0 if
/// none; taken if the times bear it out.
void set_times(std::vector<double> seconds, double stated, VideoInfo& info);

/// "frame2" before "frame10": runs of digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace intarsia::io
