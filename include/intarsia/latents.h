#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/kl_config.h>

#include <cstdint>
#include <optional>
#include <string>

// Latents as files hold them, and pictures as tensors.
namespace intarsia::vae {

/// How latents in a file are to be understood.
enum class LatentSpace {
  kModel,   ///< what the decoder takes
  kScaled,  ///< pipelines' "latent" output: (z − shift)·scaling, or normalised by mean and std
  kPacked,  ///< FLUX: [B, N, 4z] of 2×2 patches, scaled
};
LatentSpace latent_space_of(const std::string& name);

/// To model space [B, z, h, w]. height, width: pixels, needed for kPacked.
at::Tensor to_model_space(const at::Tensor& latents, LatentSpace space, const KlConfig& config,
                          std::optional<int64_t> height = {}, std::optional<int64_t> width = {});
/// From model space to `space`.
at::Tensor from_model_space(const at::Tensor& z, LatentSpace space, const KlConfig& config);

/// [B, 3, H, W] in −1…1 → RGB [H, W, 3] of picture `index`, as VaeImageProcessor: x/2 + 1/2 clamped
/// to 0…1, ×255 (or 65535 for 16 bits, int32), rounded half to even. exact: the first step in the
/// dtype of x as diffusers does; otherwise in float32.
at::Tensor to_pixels(const at::Tensor& sample, int64_t index = 0, int bits = 8, bool exact = false);
/// RGB [H, W, 3] (uint8, or int32 of `bits`) → [1, 3, H, W] float32 in −1…1.
at::Tensor from_pixels(const at::Tensor& pixels, int bits = 8);

}  // namespace intarsia::vae
