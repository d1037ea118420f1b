#include <set>

#include "aten.h"
#include "check.h"
#include "io/faults.h"
#include "vision/tower.h"

namespace intarsia::vision {
namespace {

/// How a linear layer is cut over the ranks of a tensor-parallel group (vision.md 1.8).
enum class Cut {
  kWhole,    ///< on every rank
  kRows,     ///< output rows, and the bias with them
  kThirds,   ///< rows of each third, [q, k, v] apart, and the bias with them
  kColumns,  ///< input columns; the bias whole, added after the sum
};

Shard weight_shard(Cut cut, int64_t tp, int64_t rows) {
  switch (cut) {
    case Cut::kRows:
      return {.axis = 0, .parts = tp};
    case Cut::kThirds:
      return {.axis = 0, .parts = tp, .segments = {rows / 3, rows / 3, rows / 3}};
    case Cut::kColumns:
      return {.axis = 1, .parts = tp};
    case Cut::kWhole:
      break;
  }
  return {};
}

Shard bias_shard(Cut cut, int64_t tp, int64_t rows) {
  return cut == Cut::kColumns ? Shard{} : weight_shard(cut, tp, rows);
}

/// The prefix in front of the encoder's tensors.
std::string prefix_of(const Checkpoint& checkpoint) {
  for (const std::string prefix : {"model.visual.", "visual.", ""})
    if (checkpoint.contains(prefix + "patch_embed.proj.weight")) return prefix;
  check(false, checkpoint.path().string(),
        " holds no vision encoder: neither model.visual.patch_embed.proj.weight nor "
        "visual.patch_embed.proj.weight is there");
  return "";
}

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, int64_t tp, int64_t rank, at::ScalarType dtype,
         at::Device device)
      : checkpoint_(checkpoint),
        prefix_(prefix_of(checkpoint)),
        tp_(tp),
        rank_(rank),
        dtype_(dtype),
        device_(device) {}

  nn::Linear linear(const std::string& name, int64_t out, int64_t in, Cut cut, bool bias = true) {
    nn::Linear l;
    l.weight = take(name + ".weight", {out, in}, weight_shard(cut, tp_, out));
    if (bias) l.bias = take(name + ".bias", {out}, bias_shard(cut, tp_, out));
    return l;
  }

  nn::RowNorm norm(const std::string& name, int64_t width, bool rms) {
    nn::RowNorm n;
    n.weight = take(name + ".weight", {width}, {});
    if (!rms) n.bias = take(name + ".bias", {width}, {});
    return n;
  }

  at::Tensor take(const std::string& name, std::vector<int64_t> shape, const Shard& shard,
                  std::optional<at::ScalarType> dtype = {}) {
    const std::string full = prefix_ + name;
    taken_.insert(full);
    if (!checkpoint_.contains(full)) {
      faults_.push_back("missing " + full);
      return at::zeros(shape);
    }
    if (!fits(checkpoint_.info(full).shape, shape)) {
      faults_.push_back(c10::str(full, " has the shape ",
                                 at::IntArrayRef(checkpoint_.info(full).shape), ", expected ",
                                 at::IntArrayRef(shape)));
      return at::zeros(shape);
    }
    // Whole weights of the right dtype stay in the file's pages, which ranks of a host share.
    at::Tensor x = shard.parts == 1 ? checkpoint_.view(full) : checkpoint_.read(full, shard, rank_);
    if (!x.is_floating_point())
      faults_.push_back(c10::str(full, " is stored as ", c10::toString(x.scalar_type()),
                                 ", not as floating point"));
    if (!at::isfinite(x).all().item<bool>())
      faults_.push_back(full + " holds NaN or infinite values");
    if (shard.parts == 1) x = x.reshape(shape);
    x = x.to(device_, dtype.value_or(dtype_));
    bytes_ += int64_t(x.nbytes());
    return x;
  }

  int64_t finish() {
    for (const std::string& name : checkpoint_.names())
      if (!prefix_.empty() && name.starts_with(prefix_) && !taken_.contains(name))
        faults_.push_back("surplus " + name + ", which the config does not know");
    io::check_faults(checkpoint_.path().string(), faults_);
    return bytes_;
  }

 private:
  /// [out, in] may be stored as a convolution's [out, channels, frames, height, width].
  static bool fits(const std::vector<int64_t>& stored, const std::vector<int64_t>& shape) {
    if (stored == shape) return true;
    return shape.size() == 2 && stored.size() > 2 && stored[0] == shape[0] &&
           c10::multiply_integers(stored) == shape[0] * shape[1];
  }

  const Checkpoint& checkpoint_;
  std::string prefix_;
  int64_t tp_, rank_;
  at::ScalarType dtype_;
  at::Device device_;
  std::set<std::string> taken_;
  std::vector<std::string> faults_;
  int64_t bytes_ = 0;
};

Block load_block(Loader& load, const VisionConfig& c, const Family& f, int64_t index) {
  const std::string at = c10::str("blocks.", index, ".");
  Block b;
  b.norm1 = load.norm(at + "norm1", c.hidden, f.rms_norm);
  b.norm2 = load.norm(at + "norm2", c.hidden, f.rms_norm);
  b.qkv = load.linear(at + "attn.qkv", 3 * c.hidden, c.hidden, Cut::kThirds);
  b.proj = load.linear(at + "attn.proj", c.hidden, c.hidden, Cut::kColumns);
  if (f.gate) b.mlp.gate = load.linear(at + "mlp." + f.gate, c.intermediate, c.hidden, Cut::kRows);
  b.mlp.up = load.linear(at + "mlp." + f.up, c.intermediate, c.hidden, Cut::kRows);
  b.mlp.down = load.linear(at + "mlp." + f.down, c.hidden, c.intermediate, Cut::kColumns);
  return b;
}

Merger load_merger(Loader& load, const VisionConfig& c, const Family& f, const std::string& at,
                   bool norm_after_shuffle) {
  const int64_t wide = c.cell() * c.hidden;
  Merger m;
  m.norm_after_shuffle = norm_after_shuffle;
  m.norm = load.norm(at + f.merger_norm, norm_after_shuffle ? wide : c.hidden, f.rms_norm);
  m.up = load.linear(at + f.merger_up, wide, wide, Cut::kRows);
  m.down = load.linear(at + f.merger_down, c.out_hidden, wide, Cut::kColumns);
  return m;
}

}  // namespace

Tower load_tower(const Checkpoint& checkpoint, const VisionConfig& config, const TpDp& split,
                 int64_t tp_rank, at::ScalarType dtype, at::Device device) {
  Tower t;
  t.config = config;
  t.family = family_of(config.model_type);
  t.activation = activation_of(config.hidden_act);
  t.heads = config.heads / split.tp;
  t.dtype = dtype;
  t.device = device;
  Loader load(checkpoint, split.tp, tp_rank, dtype, device);
  t.patch_embed = load.linear("patch_embed.proj", config.hidden, config.features(), Cut::kWhole,
                              t.family.patch_bias);
  if (config.position_rows > 0)  // float32: it is interpolated
    t.position_table =
        load.take("pos_embed.weight", {config.position_rows, config.hidden}, {}, at::kFloat);
  for (int64_t i = 0; i < config.depth; ++i)
    t.blocks.push_back(load_block(load, config, t.family, i));
  t.merger = load_merger(load, config, t.family, "merger.", false);
  for (size_t j = 0; j < config.deepstack.size(); ++j)
    t.deepstack.push_back(
        load_merger(load, config, t.family, c10::str("deepstack_merger_list.", j, "."), true));
  t.bytes = load.finish();
  return t;
}

}  // namespace intarsia::vision
