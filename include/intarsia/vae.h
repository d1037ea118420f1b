#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/checkpoint.h>
#include <intarsia/executor.h>
#include <intarsia/kl_config.h>
#include <intarsia/latents.h>
#include <intarsia/vae_plan.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

// AutoencoderKL of diffusers (SD, SDXL, SD3, FLUX, Z-Image, and any other widths): decode and
// encode, whole or in tiles. h, w: latent units; f: pixels per latent unit.
namespace intarsia::vae {

struct Decoded {
  at::Tensor sample;  ///< [B, 3, f·h, f·w], about −1…1, not clamped; see Executed
  RunPlan plan;
  std::vector<RankReport> ranks;
  std::vector<std::string> notes;
};

/// mean and log variance of a normal distribution of latents.
struct Posterior {
  at::Tensor mean;    ///< [B, z, h, w]
  at::Tensor logvar;  ///< clamped to [−30, 20]
};
Posterior posterior(const at::Tensor& moments);
/// mean + exp(logvar/2)·noise, noise from `seed` (float32, the CPU generator).
at::Tensor sample(const Posterior& posterior, uint64_t seed);

struct Encoded {
  at::Tensor moments;  ///< [B, 2z, h, w]: mean, raw log variance; model space
  RunPlan plan;
  std::vector<RankReport> ranks;
  std::vector<std::string> notes;
};

struct LoadOptions {
  Part part = Part::kBoth;  ///< only these weights are read
  /// Arithmetic. float16 becomes float32 on a CPU, and wherever force_upcast asks for it (noted).
  at::ScalarType dtype = at::ScalarType::Float;
  at::Device device = at::Device(at::DeviceType::CPU);
};

class AutoencoderKL {
 public:
  /// path: a diffusers folder (or its parent with vae/), or a single file with LDM, ComfyUI or FLUX
  /// names. Throws std::invalid_argument naming missing, surplus and mis-shaped tensors.
  static AutoencoderKL load(const std::filesystem::path& path, const LoadOptions& options = {});
  static AutoencoderKL load(const Checkpoint& checkpoint, const KlConfig& config,
                            const LoadOptions& options = {});

  const KlConfig& config() const;
  at::ScalarType dtype() const;
  int64_t weight_bytes() const;
  const std::vector<std::string>& notes() const;  ///< what loading decided

  /// z: model-space latents [B, z, h, w], equal on all ranks. Collective.
  Decoded decode(const at::Tensor& z, Group& group, const RunOptions& options = {}) const;
  /// pixels: [B, 3, H, W] in −1…1, equal on all ranks. Collective.
  Encoded encode(const at::Tensor& pixels, Group& group, const RunOptions& options = {}) const;

 private:
  struct Weights;
  AutoencoderKL() = default;
  std::shared_ptr<const Weights> weights_;
};

}  // namespace intarsia::vae
