#include <algorithm>

#include "check.h"
#include "io/eight_bits.h"
#include "io/video_open.h"
#include "io/video_times.h"

namespace intarsia::io {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> pictures;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (hidden || !entry.is_regular_file() || entry.file_size() == 0) continue;
    if (is_picture(entry.path())) pictures.push_back(entry.path());
  }
  std::sort(pictures.begin(), pictures.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return pictures;
}

class FolderReader : public VideoReader {
 public:
  FolderReader(const fs::path& folder, const VideoOptions& options)
      : options_(options), pictures_(pictures_in(folder)) {
    name_ = folder.string();
    check(!pictures_.empty(), name_, " has no PNG or JPEG in it to be a frame");
    info_.format = "folder";
    for (const fs::path& picture : pictures_) add(picture);
    std::vector<double> times;
    for (size_t i = 0; i < pictures_.size(); ++i) times.push_back(double(i) / options.folder_rate);
    set_times(std::move(times), options.folder_rate, info_);
  }

 private:
  void add(const fs::path& picture) {
    const PictureInfo frame = read_picture_info(picture);
    if (info_.width == 0) {
      info_.codec = frame.format;
      info_.width = frame.width;
      info_.height = frame.height;
      check_frame_size(info_, picture.string(), options_);
    }
    check(frame.width == info_.width && frame.height == info_.height, picture.string(), " has ",
          frame.width, "x", frame.height, " pixels, ", pictures_.front().filename().string(), " ",
          info_.width, "x", info_.height, "; the frames of a video are of one size");
  }

  std::vector<std::string> read_frames(const std::vector<int64_t>& indices,
                                       const TakeFrame& take) override {
    at::Tensor rgb;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (i == 0 || indices[i] != indices[i - 1])
        rgb = eight_bits(read_picture(pictures_[static_cast<size_t>(indices[i])], options_.limits));
      take(static_cast<int64_t>(i), rgb);
    }
    return {};
  }

  VideoOptions options_;
  std::vector<fs::path> pictures_;
};

}  // namespace

std::unique_ptr<VideoReader> open_folder(const fs::path& folder, const VideoOptions& options) {
  return std::make_unique<FolderReader>(folder, options);
}

}  // namespace intarsia::io
