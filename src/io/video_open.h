#pragma once
#include <intarsia/video.h>

namespace intarsia::io {

std::unique_ptr<VideoReader> open_folder(const std::filesystem::path& folder,
                                         const VideoOptions& options);
std::unique_ptr<VideoReader> open_video_file(const std::filesystem::path& file,
                                             const VideoOptions& options);

/// Throws std::invalid_argument if a frame has more pixels than the limits allow.
void check_frame_size(const VideoInfo& info, const std::string& name, const VideoOptions& options);

}  // namespace intarsia::io
