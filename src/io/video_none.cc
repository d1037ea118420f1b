#include "check.h"
#include "io/video_open.h"

namespace intarsia {

bool can_read_video_files() { return false; }

namespace io {

std::unique_ptr<VideoReader> open_video_file(const std::filesystem::path& file,
                                             const VideoOptions&) {
  check(false, "cannot read ", file.string(),
        ": built without FFmpeg; give a folder of pictures, or install libavformat-dev, "
        "libavcodec-dev, libavutil-dev and libswscale-dev and build again");
  return nullptr;
}

}  // namespace io
}  // namespace intarsia
