#include "aten.h"
#include "vae/kl_model.h"

namespace intarsia::vae {
namespace {

/// Takes the layers of one model by name; `names` is the path so far.
class Builder {
 public:
  Builder(const KlConfig& config, WeightSource& weights) : config_(config), weights_(weights) {}

  nn::Conv2d conv(const std::string& name, int64_t out, int64_t in, int64_t kernel) const {
    nn::Conv2d c;
    c.weight = weights_.take(name + ".weight", {out, in, kernel, kernel});
    c.bias = weights_.take(name + ".bias", {out});
    return c;
  }

  nn::GroupNorm norm(const std::string& name, int64_t channels) const {
    nn::GroupNorm n{.groups = config_.norm_num_groups};
    n.weight = weights_.take(name + ".weight", {channels}).to(at::kFloat);
    n.bias = weights_.take(name + ".bias", {channels}).to(at::kFloat);
    return n;
  }

  Linear linear(const std::string& name, int64_t channels) const {
    Linear l;
    l.weight = weights_.take(name + ".weight", {channels, channels});
    l.bias = weights_.take(name + ".bias", {channels});
    return l;
  }

  Resnet resnet(const std::string& name, int64_t in, int64_t out) const {
    Resnet r;
    r.norm1 = norm(name + ".norm1", in);
    r.conv1 = conv(name + ".conv1", out, in, 3);
    r.norm2 = norm(name + ".norm2", out);
    r.conv2 = conv(name + ".conv2", out, out, 3);
    if (in != out) r.shortcut = conv(name + ".conv_shortcut", out, in, 1);
    return r;
  }

  MidBlock mid(const std::string& name, int64_t channels) const {
    MidBlock m;
    m.first = resnet(name + ".resnets.0", channels, channels);
    m.second = resnet(name + ".resnets.1", channels, channels);
    if (!config_.mid_block_add_attention) return m;
    const std::string at = name + ".attentions.0";
    m.attention = SpatialAttention{.norm = norm(at + ".group_norm", channels),
                                   .q = linear(at + ".to_q", channels),
                                   .k = linear(at + ".to_k", channels),
                                   .v = linear(at + ".to_v", channels),
                                   .out = linear(at + ".to_out.0", channels)};
    return m;
  }

  /// resampler: name of the layer between levels, "" for the last level.
  Stage stage(const std::string& name, int64_t in, int64_t out, int64_t resnets,
              const std::string& resampler) const {
    Stage s;
    for (int64_t j = 0; j < resnets; ++j)
      s.resnets.push_back(resnet(c10::str(name, ".resnets.", j), j == 0 ? in : out, out));
    if (!resampler.empty()) s.resample = conv(name + "." + resampler + ".0.conv", out, out, 3);
    return s;
  }

 private:
  const KlConfig& config_;
  WeightSource& weights_;
};

}  // namespace

Decoder build_decoder(const KlConfig& config, WeightSource& weights) {
  const Builder b(config, weights);
  const auto& widths = config.block_out_channels;
  const int64_t top = widths.back(), z = config.latent_channels;
  Decoder d;
  if (config.use_post_quant_conv) d.post_quant = b.conv("post_quant_conv", z, z, 1);
  d.conv_in = b.conv("decoder.conv_in", top, z, 3);
  d.mid = b.mid("decoder.mid_block", top);
  int64_t in = top;
  for (size_t i = 0; i < widths.size(); ++i) {
    const int64_t out = widths[widths.size() - 1 - i];
    const bool last = i + 1 == widths.size();
    d.up.push_back(b.stage(c10::str("decoder.up_blocks.", i), in, out, config.layers_per_block + 1,
                           last ? "" : "upsamplers"));
    in = out;
  }
  d.norm_out = b.norm("decoder.conv_norm_out", in);
  d.conv_out = b.conv("decoder.conv_out", config.out_channels, in, 3);
  return d;
}

Encoder build_encoder(const KlConfig& config, WeightSource& weights) {
  const Builder b(config, weights);
  const auto& widths = config.block_out_channels;
  const int64_t top = widths.back(), moments = 2 * config.latent_channels;
  Encoder e;
  e.conv_in = b.conv("encoder.conv_in", widths[0], config.in_channels, 3);
  int64_t in = widths[0];
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool last = i + 1 == widths.size();
    e.down.push_back(b.stage(c10::str("encoder.down_blocks.", i), in, widths[i],
                             config.layers_per_block, last ? "" : "downsamplers"));
    in = widths[i];
  }
  e.mid = b.mid("encoder.mid_block", top);
  e.norm_out = b.norm("encoder.conv_norm_out", top);
  e.conv_out = b.conv("encoder.conv_out", moments, top, 3);
  if (config.use_quant_conv) e.quant = b.conv("quant_conv", moments, moments, 1);
  return e;
}

}  // namespace intarsia::vae
