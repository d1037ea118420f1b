#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace intarsia::io {

/// Whose bits a resize has. They are up to two grey levels apart.
enum class Resizer {
  kPillow,  ///< Image.resize(…, BICUBIC) of Pillow 13: tall pictures are shrunk vertically first
  kPillow12,     ///< of Pillow 12 and before: horizontally first (late releases of 12 differ where
                 ///< a picture is 100 times as high as wide)
  kTorchvision,  ///< resize(…, BICUBIC, antialias=True) of torchvision
};

/// Bicubic with antialiasing. rgb: uint8 [H, W, 3]; gives uint8 [height, width, 3], contiguous.
/// Runs on libtorch's threads. Throws std::invalid_argument if dtype or shape do not fit or a side
/// is below 1 or above 2^20.
at::Tensor resize(const at::Tensor& rgb, int64_t height, int64_t width,
                  Resizer resizer = Resizer::kPillow);

}  // namespace intarsia::io
