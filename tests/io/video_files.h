#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/ffmpeg.h"
#include "support/tensors.h"

namespace intarsia::test {

/// What a video is made of; the path's extension says which container.
struct VideoRecipe {
  std::string codec = "png";
  AVPixelFormat format = AV_PIX_FMT_RGB24;
  int width = 0;
  int height = 0;
  std::vector<std::vector<at::Tensor>> frames;  ///< planes, each uint8 [rows, bytes]
  std::vector<int64_t> stamps;                  ///< milliseconds; empty: 10 frames a second
  std::optional<std::array<int32_t, 9>> matrix;
  AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
  int b_frames = 0;
  std::set<size_t> rubbish;  ///< packets whose bytes are replaced
};

/// Frames of RGB, lossless.
VideoRecipe rgb_video(const std::vector<at::Tensor>& frames);
void write_video(const std::filesystem::path& path, const VideoRecipe& recipe);

}  // namespace intarsia::test
