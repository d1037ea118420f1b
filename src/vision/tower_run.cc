#include "aten.h"
#include "nn/rope.h"
#include "nn/segments.h"
#include "vision/tower.h"

namespace intarsia::vision {
namespace {

struct Run {
  const Tower& tower;
  const Tokens& tokens;
  const Group& tp;
  const Group& seq;
  at::Tensor cos, sin;  ///< of my tokens
};

at::Tensor activate(const at::Tensor& x, Activation act) {
  switch (act) {
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kQuickGelu:
      return x * at::sigmoid(x * 1.702);
    case Activation::kSilu:
      return at::silu(x);
  }
  return x;
}

bool sees_windows(const Run& run, int64_t block) {
  const auto& full = run.tower.config.full_attention;
  return !run.tokens.windows.empty() && std::find(full.begin(), full.end(), block) == full.end();
}

at::Tensor attend(const Run& run, const Block& block, const at::Tensor& x, bool windows) {
  const int64_t heads = run.tower.heads, width = run.tower.config.head_dim();
  const at::Tensor qkv = nn::linear(x, block.qkv).view({x.size(0), 3, heads, width});
  const at::Tensor q = nn::rotate(qkv.select(1, 0), run.cos, run.sin);
  const at::Tensor k = run.seq.all_gather(nn::rotate(qkv.select(1, 1), run.cos, run.sin));
  const at::Tensor v = run.seq.all_gather(qkv.select(1, 2));
  const auto& segments = windows ? run.tokens.windows : run.tokens.frames;
  const at::Tensor y = nn::segment_attention(q, k, v, segments, run.tokens.mine.begin);
  return nn::row_linear(y.reshape({x.size(0), heads * width}), block.proj, run.tp);
}

at::Tensor feed_forward(const Run& run, const Mlp& mlp, const at::Tensor& x) {
  const Activation act = run.tower.activation;
  at::Tensor inner = nn::linear(x, mlp.up);
  inner = mlp.gate.weight.defined() ? activate(nn::linear(x, mlp.gate), act).mul_(inner)
                                    : activate(inner, act);
  return nn::row_linear(inner, mlp.down, run.tp);
}

at::Tensor merge(const Run& run, const Merger& merger, const at::Tensor& x) {
  const int64_t rows = x.size(0) / run.tower.config.cell();
  const int64_t wide = run.tower.config.cell() * run.tower.config.hidden;
  const at::Tensor cells = merger.norm_after_shuffle
                               ? nn::row_norm(x.view({rows, wide}), merger.norm)
                               : nn::row_norm(x, merger.norm).view({rows, wide});
  return nn::row_linear(at::gelu(nn::linear(cells, merger.up)), merger.down, run.tp);
}

at::Tensor embed(const Run& run, const at::Tensor& pixels, const nn::Scope& scope) {
  at::Tensor x = nn::linear(pixels.to(run.tower.device, run.tower.dtype), run.tower.patch_embed);
  x = scope.child("patch_embed").output(x);
  if (run.tokens.positions.defined())
    x = x + run.tokens.positions.narrow(0, run.tokens.mine.begin, run.tokens.mine.size());
  return scope.child("block_input").output(x);
}

}  // namespace

at::Tensor run_tower(const Tower& tower, const Tokens& tokens, const at::Tensor& pixels,
                     const Group& tp, const Group& seq, const nn::Scope& scope) {
  const auto mine = [&](const at::Tensor& x) {
    return x.narrow(0, tokens.mine.begin, tokens.mine.size());
  };
  const Run run{tower, tokens, tp, seq, mine(tokens.cos), mine(tokens.sin)};
  at::Tensor x = embed(run, pixels, scope);
  std::vector<at::Tensor> levels(1);
  for (size_t i = 0; i < tower.blocks.size(); ++i) {
    const Block& block = tower.blocks[i];
    x = x + attend(run, block, nn::row_norm(x, block.norm1), sees_windows(run, int64_t(i)));
    x = x + feed_forward(run, block.mlp, nn::row_norm(x, block.norm2));
    x = scope.child("blocks", int64_t(i)).output(x);
    const auto& deep = tower.config.deepstack;
    for (size_t j = 0; j < deep.size(); ++j)
      if (deep[j] == int64_t(i)) levels.push_back(merge(run, tower.deepstack[j], x));
  }
  levels[0] = merge(run, tower.merger, x);
  return levels.size() == 1 ? levels[0] : at::cat(levels, 1);
}

}  // namespace intarsia::vision
