#include <intarsia/video.h>

#include "check.h"
#include "io/video_open.h"

namespace intarsia {

std::unique_ptr<VideoReader> VideoReader::open(const std::filesystem::path& path,
                                               const VideoOptions& options) {
  check(options.folder_rate > 0, "folder_rate is ", options.folder_rate,
        " frames a second; it must be above 0");
  check(options.threads >= 1, options.threads, " threads cannot decode; use 1 or more");
  check(std::filesystem::exists(path), "there is no ", path.string());
  return std::filesystem::is_directory(path) ? io::open_folder(path, options)
                                             : io::open_video_file(path, options);
}

std::vector<std::string> VideoReader::read(const std::vector<int64_t>& indices,
                                           const TakeFrame& take) {
  int64_t last = 0;
  for (const int64_t index : indices) {
    check(index >= last && index < info_.frames(), name_, ": frame ", index,
          " was asked for after ", last, "; frames are asked for in ascending order, from 0 to ",
          info_.frames() - 1);
    last = index;
  }
  if (indices.empty()) return {};
  return read_frames(indices, take);
}

namespace io {

void check_frame_size(const VideoInfo& info, const std::string& name, const VideoOptions& options) {
  const int64_t most = options.limits.max_pixels;
  check(info.width >= 1 && info.height >= 1, name, " has frames of ", info.width, "x", info.height,
        " pixels; they must have 1 or more");
  check(info.width <= most / info.height, name, " has frames of ", info.width, "x", info.height,
        " pixels; at most ", most, " are read, raise the limit if the video is wanted");
}

}  // namespace io
}  // namespace intarsia
