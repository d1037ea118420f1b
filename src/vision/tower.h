#pragma once
#include <intarsia/vision.h>

#include <vector>

#include "nn/linear.h"
#include "nn/row_norm.h"
#include "nn/scope.h"
#include "vision/family.h"

// A vision encoder as data, and what runs it. tp: the ranks that share one copy of the weights.
namespace intarsia::vision {

struct Mlp {
  nn::Linear gate;  ///< gated: act(gate)·up; else undefined
  nn::Linear up;    ///< rank's columns
  nn::Linear down;  ///< rank's rows of the inner axis
};

struct Block {
  nn::RowNorm norm1, norm2;
  nn::Linear qkv;   ///< the rank's heads of q, then k, then v
  nn::Linear proj;  ///< the rank's rows of the inner axis
  Mlp mlp;
};

struct Merger {
  nn::RowNorm norm;
  bool norm_after_shuffle = false;  ///< over merge² patches at once, as in deepstack mergers
  nn::Linear up, down;
};

struct Tower {
  VisionConfig config;
  Family family;
  nn::Linear patch_embed;     ///< [hidden, features]
  at::Tensor position_table;  ///< [side², hidden] float32, or undefined
  std::vector<Block> blocks;
  Merger merger;
  std::vector<Merger> deepstack;
  Activation activation = Activation::kGeluTanh;  ///< of the MLPs
  int64_t heads = 0;                              ///< of this rank
  int64_t bytes = 0;                              ///< of this rank's weights
  at::ScalarType dtype = at::ScalarType::Float;
  at::Device device = at::Device(at::DeviceType::CPU);
};

/// Reads this rank's part of every weight. Throws std::invalid_argument naming what is missing,
/// surplus or of another shape.
Tower load_tower(const Checkpoint& checkpoint, const VisionConfig& config, const TpDp& split,
                 int64_t tp_rank, at::ScalarType dtype, at::Device device);

/// Tokens that run together. Rows of one item are in the order of `order` (windows) or as given.
struct Tokens {
  at::Tensor cos, sin;         ///< float32 [n, head_dim]
  at::Tensor positions;        ///< [n, hidden] in the tower's dtype; undefined without a table
  std::vector<Range> frames;   ///< segments of attention, over all tokens
  std::vector<Range> windows;  ///< the same in blocks that see windows only; empty without
  int64_t total = 0;           ///< tokens, of which this rank may run a part
  Range mine;                  ///< that part, in whole output rows
};

/// pixels: [mine.size(), features], in the order of the tokens. seq: the ranks that share the
/// tokens (a group of one: all are mine). Returns this rank's output rows,
/// [mine.size()/merge², fat width]: main, then the deepstack levels.
at::Tensor run_tower(const Tower& tower, const Tokens& tokens, const at::Tensor& pixels,
                     const Group& tp, const Group& seq, const nn::Scope& scope);

}  // namespace intarsia::vision
