#pragma once
#include <intarsia/vae.h>

#include <optional>
#include <vector>

#include "nn/conv.h"
#include "nn/norm.h"
#include "nn/scope.h"

// AutoencoderKL as data and forward functions (vae.md 1.6). Activations are channels-last
// [B, C, H, W]; they are passed by value and freed as soon as they are used up.
namespace intarsia::vae {

struct Resnet {
  nn::GroupNorm norm1, norm2;
  nn::Conv2d conv1, conv2;
  std::optional<nn::Conv2d> shortcut;  ///< 1×1, where channels change
};

struct Linear {
  at::Tensor weight, bias;
};

/// One head as wide as the channels, over all pixels.
struct SpatialAttention {
  nn::GroupNorm norm;
  Linear q, k, v, out;
};

struct MidBlock {
  Resnet first, second;
  std::optional<SpatialAttention> attention;
};

/// One level: resnets, then up- or downsampling on all but the last.
struct Stage {
  std::vector<Resnet> resnets;
  std::optional<nn::Conv2d> resample;
};

struct Decoder {
  std::optional<nn::Conv2d> post_quant;
  nn::Conv2d conv_in;
  MidBlock mid;
  std::vector<Stage> up;
  nn::GroupNorm norm_out;
  nn::Conv2d conv_out;
};

struct Encoder {
  nn::Conv2d conv_in;
  std::vector<Stage> down;
  MidBlock mid;
  nn::GroupNorm norm_out;
  nn::Conv2d conv_out;
  std::optional<nn::Conv2d> quant;
};

/// z: [B, z, h, w] → [B, 3, f·h, f·w].
at::Tensor forward(const Decoder& decoder, at::Tensor z, const nn::Scope& scope);
/// pixels: [B, 3, H, W] → moments [B, 2z, ⌊H/f⌋, ⌊W/f⌋].
at::Tensor forward(const Encoder& encoder, at::Tensor pixels, const nn::Scope& scope);

/// Where weights come from: by name and expected shape. Faults are collected by the source.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual at::Tensor take(const std::string& name, std::vector<int64_t> shape) = 0;
};

Decoder build_decoder(const KlConfig& config, WeightSource& weights);
Encoder build_encoder(const KlConfig& config, WeightSource& weights);

}  // namespace intarsia::vae
