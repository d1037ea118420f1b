#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/picture.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace intarsia {

struct VideoInfo {
  std::string format;         ///< "folder", or the container as FFmpeg names it
  std::string codec;          ///< "png", "jpeg", or the codec as FFmpeg names it
  int64_t width = 0;          ///< as shown: turned as the file says
  int64_t height = 0;         ///< pixels are taken as square
  double rate = 0;            ///< frames a second, on average
  bool constant = true;       ///< the frames are evenly spaced
  std::vector<double> times;  ///< when each frame is shown, seconds from the first; ascending
  int64_t frames() const { return static_cast<int64_t>(times.size()); }
};

struct VideoOptions {
  PictureLimits limits;    ///< of one frame, checked before any is decoded
  double folder_rate = 2;  ///< a folder of pictures: frames a second
  int threads = 1;         ///< that decode
};

/// False where the library was built without FFmpeg: then only folders can be read.
bool can_read_video_files();

/// An open video.
class VideoReader {
 public:
  /// A folder of pictures of one size in natural order (frame2 before frame10; other files are
  /// passed over), or a file. Reads what is needed to know the time of every frame, decodes none.
  /// Throws std::invalid_argument naming path and fault: no video in it, too large, broken, built
  /// without FFmpeg.
  static std::unique_ptr<VideoReader> open(const std::filesystem::path& path,
                                           const VideoOptions& options = {});
  virtual ~VideoReader() = default;
  VideoReader(const VideoReader&) = delete;
  VideoReader& operator=(const VideoReader&) = delete;

  const std::string& name() const { return name_; }
  const VideoInfo& info() const { return info_; }

  /// rgb: uint8 [height, width, 3]; at: its position in `indices`.
  using TakeFrame = std::function<void(int64_t at, const at::Tensor& rgb)>;
  /// Gives the frames `indices` (ascending; repeats allowed), holding one at a time. A file that
  /// ends early gives its last frame again for those that are missing; the notes say how many.
  /// Files that say no colour matrix are taken as BT.601, as FFmpeg does. Throws
  /// std::invalid_argument if an index is outside, or nothing can be decoded.
  std::vector<std::string> read(const std::vector<int64_t>& indices, const TakeFrame& take);

 protected:
  VideoReader() = default;
  virtual std::vector<std::string> read_frames(const std::vector<int64_t>& indices,
                                               const TakeFrame& take) = 0;
  std::string name_;
  VideoInfo info_;
};

}  // namespace intarsia
