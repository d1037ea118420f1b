#include <intarsia/vae.h>

#include <algorithm>

#include "aten.h"
#include "vae/kl_model.h"

// What a model costs, by walking its layers as kl_forward.cc does. Areas are pixels of a level.
namespace intarsia::vae {
namespace {

/// Most elements alive at once. Keep in step with kl_forward.cc; bench/vae_memory checks it.
struct Peak {
  int64_t elements = 0;
  void at(int64_t live) { elements = std::max(elements, live); }

  void conv(int64_t in, int64_t out, int64_t area) { at((in + out) * area); }
  void resnet(int64_t in, int64_t out, int64_t area) {
    at((in == out ? 3 * in : std::max(in + 2 * out, 3 * out)) * area);
  }
  void mid(const KlConfig& c, int64_t area) {
    const int64_t top = c.block_out_channels.back();
    resnet(top, top, area);
    // x, tokens, q, k, v, their weighted sum and its projection.
    if (c.mid_block_add_attention) at(7 * top * area);
  }
};

int64_t decode_elements(const KlConfig& c, int64_t h, int64_t w) {
  Peak peak;
  const auto& widths = c.block_out_channels;
  int64_t in = widths.back(), area = h * w;
  peak.conv(c.latent_channels, in, area);
  peak.mid(c, area);
  for (size_t i = widths.size(); i-- > 0;) {
    const int64_t out = widths[i];
    peak.resnet(in, out, area);
    peak.resnet(out, out, area);
    if (i > 0) {
      area *= 4;
      peak.conv(out, out, area);  // the map before it, a quarter, is freed by then
    }
    in = out;
  }
  peak.conv(in, c.out_channels, area);
  return peak.elements;
}

int64_t encode_elements(const KlConfig& c, int64_t h, int64_t w) {
  Peak peak;
  const auto& widths = c.block_out_channels;
  int64_t in = widths.front();
  peak.conv(c.in_channels, in, h * w);
  for (size_t i = 0; i < widths.size(); ++i) {
    const int64_t out = widths[i];
    peak.resnet(in, out, h * w);
    if (c.layers_per_block > 1) peak.resnet(out, out, h * w);
    if (i + 1 < widths.size()) {
      peak.conv(out, out, (h + 1) * (w + 1));  // the map and its padded copy
      h /= 2;
      w /= 2;
    }
    in = out;
  }
  peak.mid(c, h * w);
  return peak.elements;
}

/// Counts instead of reading.
struct Counter : WeightSource {
  int64_t count = 0;
  at::Tensor take(const std::string&, std::vector<int64_t> shape) override {
    count += c10::multiply_integers(shape);
    return at::empty({0});
  }
};

}  // namespace

int64_t activation_bytes(const KlConfig& config, Direction direction, int64_t height, int64_t width,
                         at::ScalarType dtype) {
  const int64_t elements = direction == Direction::kDecode ? decode_elements(config, height, width)
                                                           : encode_elements(config, height, width);
  return elements * int64_t(c10::elementSize(dtype));
}

int64_t parameter_count(const KlConfig& config, Part part) {
  Counter counter;
  if (part != Part::kEncoder) build_decoder(config, counter);
  if (part != Part::kDecoder) build_encoder(config, counter);
  return counter.count;
}

}  // namespace intarsia::vae
