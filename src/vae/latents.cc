#include <intarsia/vae.h>

#include "aten.h"
#include "check.h"

namespace intarsia::vae {
namespace {

at::Tensor by_channel(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat).view({1, -1, 1, 1});
}

void check_latents(const at::Tensor& z, const KlConfig& c) {
  check(z.dim() == 4, "latents have ", z.dim(), " axes ", z.sizes(),
        "; [batch, channels, height, width] is needed (3 axes: --latents packed)");
  check(z.size(1) == c.latent_channels, "latents have ", z.size(1), " channels, the model takes ",
        c.latent_channels);
}

/// [B, N, 4z] → [B, z, h, w], N = (h/2)·(w/2): the last axis is (z, row, column) of a 2×2 patch.
at::Tensor unpack(const at::Tensor& x, const KlConfig& c, int64_t height, int64_t width) {
  const int64_t f = c.ratio();
  const int64_t h = 2 * (height / (2 * f)), w = 2 * (width / (2 * f));
  check(x.dim() == 3, "packed latents have 3 axes [batch, patches, 4·channels], these ", x.dim(),
        ": ", x.sizes());
  check(x.size(2) == 4 * c.latent_channels, "packed latents have ", x.size(2),
        " values a patch, the model takes ", 4 * c.latent_channels);
  check(x.size(1) == (h / 2) * (w / 2), "packed latents have ", x.size(1), " patches, ", height,
        "x", width, " pixels have ", (h / 2) * (w / 2),
        "; give the height and width they were made for");
  return x.view({x.size(0), h / 2, w / 2, c.latent_channels, 2, 2})
      .permute({0, 3, 1, 4, 2, 5})
      .reshape({x.size(0), c.latent_channels, h, w});
}

at::Tensor pack(const at::Tensor& z) {
  check(z.size(2) % 2 == 0 && z.size(3) % 2 == 0, "latents of ", z.size(2), "x", z.size(3),
        " cannot be packed in 2x2 patches; both sizes must be even");
  return z.view({z.size(0), z.size(1), z.size(2) / 2, 2, z.size(3) / 2, 2})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({z.size(0), z.size(2) * z.size(3) / 4, 4 * z.size(1)});
}

// Formulas of vae.md 1.6 (pipelines), in float32 and in diffusers' order of operations.
at::Tensor unscale(const at::Tensor& x, const KlConfig& c) {
  if (!c.latents_mean.empty())
    return x * by_channel(c.latents_std) / c.scaling_factor + by_channel(c.latents_mean);
  const at::Tensor z = x / c.scaling_factor;
  return c.shift_factor ? z + *c.shift_factor : z;
}

at::Tensor scale(const at::Tensor& z, const KlConfig& c) {
  if (!c.latents_mean.empty())
    return (z - by_channel(c.latents_mean)) * c.scaling_factor / by_channel(c.latents_std);
  return (c.shift_factor ? z - *c.shift_factor : z) * c.scaling_factor;
}

}  // namespace

LatentSpace latent_space_of(const std::string& name) {
  if (name == "model") return LatentSpace::kModel;
  if (name == "scaled") return LatentSpace::kScaled;
  if (name == "packed") return LatentSpace::kPacked;
  check(false, "latents cannot be \"", name, "\"; use model, scaled or packed");
  return LatentSpace::kModel;
}

at::Tensor to_model_space(const at::Tensor& latents, LatentSpace space, const KlConfig& config,
                          std::optional<int64_t> height, std::optional<int64_t> width) {
  check(latents.is_floating_point(), "latents are ", c10::toString(latents.scalar_type()),
        ", not floating point");
  at::Tensor z = latents.to(at::kFloat);
  if (space == LatentSpace::kPacked) {
    check(!height || (*height > 0 && *height < 1 << 24), "a height of ", height.value_or(0),
          " pixels; use 1 or more");
    check(!width || (*width > 0 && *width < 1 << 24), "a width of ", width.value_or(0),
          " pixels; use 1 or more");
    check(height && width, "packed latents do not say their size: give height and width in pixels");
    z = unpack(z.contiguous(), config, *height, *width);
  }
  check_latents(z, config);
  return space == LatentSpace::kModel ? z : unscale(z, config);
}

at::Tensor from_model_space(const at::Tensor& z, LatentSpace space, const KlConfig& config) {
  check_latents(z, config);
  if (space == LatentSpace::kModel) return z;
  const at::Tensor x = scale(z.to(at::kFloat), config);
  return space == LatentSpace::kPacked ? pack(x.contiguous()) : x;
}

}  // namespace intarsia::vae
