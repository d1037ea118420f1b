#include "aten.h"
#include "nn/attention.h"
#include "vae/kl_model.h"

namespace intarsia::vae {
namespace {

using nn::Scope;

at::Tensor forward(const Resnet& r, at::Tensor x) {
  at::Tensor skip = r.shortcut ? nn::conv2d(x, *r.shortcut) : x;
  // With a shortcut x itself is not needed again, so it is normalised in place.
  at::Tensor h = r.shortcut ? nn::norm_silu_(std::move(x), r.norm1) : nn::norm_silu(x, r.norm1);
  x.reset();
  h = nn::conv2d(h, r.conv1);
  h = nn::norm_silu_(std::move(h), r.norm2);
  h = nn::conv2d(h, r.conv2);
  return h.add_(skip);
}

at::Tensor linear(const at::Tensor& x, const Linear& l) { return at::linear(x, l.weight, l.bias); }

at::Tensor forward(const SpatialAttention& a, const at::Tensor& x) {
  const auto sizes = x.sizes().vec();
  // Channels-last makes [B, H·W, C] a view.
  at::Tensor tokens = nn::group_norm(x, a.norm).permute({0, 2, 3, 1}).flatten(1, 2);
  const at::Tensor q = linear(tokens, a.q);
  const at::Tensor k = linear(tokens, a.k);
  const at::Tensor v = linear(tokens, a.v);
  tokens = linear(nn::attention(q, k, v), a.out);
  return tokens.view({sizes[0], sizes[2], sizes[3], sizes[1]}).permute({0, 3, 1, 2}).add_(x);
}

at::Tensor forward(const MidBlock& mid, at::Tensor x, const Scope& scope) {
  x = forward(mid.first, std::move(x));
  if (mid.attention) x = forward(*mid.attention, x);
  return scope.output(forward(mid.second, std::move(x)));
}

at::Tensor forward(const Stage& stage, at::Tensor x,
                   at::Tensor (*resample)(at::Tensor, const nn::Conv2d&), const Scope& scope) {
  for (const Resnet& r : stage.resnets) x = forward(r, std::move(x));
  if (stage.resample) x = resample(std::move(x), *stage.resample);
  return scope.output(std::move(x));
}

at::Tensor out_layers(const nn::GroupNorm& norm, const nn::Conv2d& conv, at::Tensor x,
                      const Scope& scope) {
  const Scope norm_scope = scope.child("conv_norm_out");
  // Observers see the norm without the SiLU, as diffusers' module gives it.
  x = norm_scope.observed() ? at::silu(norm_scope.output(nn::group_norm(x, norm)))
                            : nn::norm_silu_(std::move(x), norm);
  return scope.child("conv_out").output(nn::conv2d(x, conv));
}

at::Tensor channels_last(const at::Tensor& x) {
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

at::Tensor forward(const Decoder& d, at::Tensor z, const Scope& scope) {
  at::Tensor x = channels_last(z);
  if (d.post_quant) x = scope.child("post_quant_conv").output(nn::conv2d(x, *d.post_quant));
  const Scope inside = scope.child("decoder");
  x = inside.child("conv_in").output(nn::conv2d(x, d.conv_in));
  x = forward(d.mid, std::move(x), inside.child("mid_block"));
  for (size_t i = 0; i < d.up.size(); ++i)
    x = forward(d.up[i], std::move(x), nn::upsample, inside.child("up_blocks", int64_t(i)));
  return out_layers(d.norm_out, d.conv_out, std::move(x), inside);
}

at::Tensor forward(const Encoder& e, at::Tensor pixels, const Scope& scope) {
  const Scope inside = scope.child("encoder");
  at::Tensor x = inside.child("conv_in").output(nn::conv2d(channels_last(pixels), e.conv_in));
  for (size_t i = 0; i < e.down.size(); ++i)
    x = forward(e.down[i], std::move(x), nn::downsample, inside.child("down_blocks", int64_t(i)));
  x = forward(e.mid, std::move(x), inside.child("mid_block"));
  x = out_layers(e.norm_out, e.conv_out, std::move(x), inside);
  return e.quant ? scope.child("quant_conv").output(nn::conv2d(x, *e.quant)) : x;
}

}  // namespace intarsia::vae
