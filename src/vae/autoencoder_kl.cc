#include <algorithm>

#include "aten.h"
#include "check.h"
#include "group/memory.h"
#include "vae/blend.h"
#include "vae/kl_load.h"

namespace intarsia::vae {
namespace {

using Forward = std::function<at::Tensor(at::Tensor x, const nn::Scope& scope)>;

/// Finds the first layer whose output is not finite.
struct NanFinder : nn::Observer {
  std::string first;
  void output(const std::string& path, const at::Tensor& x) override {
    if (first.empty() && !at::isfinite(x).all().item<bool>()) first = path;
  }
};

at::Tensor checked(const Forward& forward, const at::Tensor& x, nn::Observer* observer) {
  at::Tensor y = forward(x, nn::Scope(observer));
  if (at::isfinite(y).all().item<bool>()) return y;
  NanFinder finder;
  forward(x, nn::Scope(&finder));
  throw std::runtime_error("the result holds NaN or infinite values, first in the output of " +
                           finder.first + "; try --dtype float32, or check the input and weights");
}

TileTask task(int64_t id, int64_t cols, at::Tensor x, double workload) {
  return {.tile_id = id,
          .grid_coord = {id / cols, id % cols},
          .tensor = {std::move(x)},
          .workload = workload};
}

at::Tensor collect(TileStream& tiles, int64_t dim) {
  std::vector<at::Tensor> all;
  while (auto tile = tiles.next()) all.push_back(std::move(tile->tensor));
  return all.size() == 1 ? all[0] : at::cat(all, dim);
}

Operator whole_operator(const RunPlan& plan) {
  Operator op;
  op.split = [&plan](const at::Tensor& z) {
    Split s{.grid = {.split_dims = {0}, .grid_shape = {z.size(0), 1}}};
    for (int64_t b = 0; b < z.size(0); ++b)
      s.tasks.push_back(task(b, 1, z.narrow(0, b, 1), plan.workloads[b]));
    return s;
  };
  op.merge = [](TileStream& tiles, const GridSpec&) { return collect(tiles, 0); };
  return op;
}

Operator tile_operator(const RunPlan& plan) {
  Operator op;
  op.split = [&plan](const at::Tensor& z) {
    const auto& [rows, cols] = plan.grid;
    Split s{
        .grid = {.split_dims = {2, 3}, .grid_shape = {int64_t(rows.size()), int64_t(cols.size())}}};
    for (const TileSpan& row : rows)
      for (const TileSpan& col : cols) {
        const auto id = int64_t(s.tasks.size());
        s.tasks.push_back(
            task(id, int64_t(cols.size()),
                 z.narrow(2, row.in.begin, row.in.size()).narrow(3, col.in.begin, col.in.size()),
                 plan.workloads[id]));
      }
    return s;
  };
  op.merge = [&plan](TileStream& tiles, const GridSpec&) { return merge_tiles(tiles, plan.grid); };
  return op;
}

Operator patch_operator(const RunPlan& plan, int64_t ratio) {
  Operator op;
  op.split = [&plan](const at::Tensor& z) {
    Split s{.grid = {.split_dims = {2, 3}, .grid_shape = {int64_t(plan.patches.cells.size()), 1}}};
    for (const PatchCell& c : plan.patches.cells)
      s.tasks.push_back(
          task(int64_t(s.tasks.size()), 1,
               z.narrow(2, c.rows.begin, c.rows.size()).narrow(3, c.cols.begin, c.cols.size()),
               plan.workloads[s.tasks.size()]));
    return s;
  };
  op.merge = [&plan, ratio](TileStream& tiles, const GridSpec&) {
    at::Tensor whole;
    while (auto tile = tiles.next()) {
      const PatchCell& c = plan.patches.cells[tile->grid_coord[0]];
      const at::Tensor& t = tile->tensor;
      if (!whole.defined())
        whole = at::empty({t.size(0), t.size(1), plan.out_height, plan.out_width}, t.options());
      const auto cut = [&](const at::Tensor& x, const Range& core, int64_t dim, int64_t from) {
        return x.narrow(dim, (core.begin - from) * ratio, core.size() * ratio);
      };
      cut(cut(whole, c.core_rows, 2, 0), c.core_cols, 3, 0)
          .copy_(cut(cut(t, c.core_rows, 2, c.rows.begin), c.core_cols, 3, c.cols.begin));
    }
    return whole;
  };
  return op;
}

Operator operator_for(const RunPlan& plan, int64_t ratio) {
  if (plan.mode == Mode::kTile) return tile_operator(plan);
  if (plan.mode == Mode::kPatch) return patch_operator(plan, ratio);
  return whole_operator(plan);
}

/// Sizes, and facts of the machine on which all ranks must agree: the least memory, the most held.
RunInput input_for(Direction direction, const at::Tensor& x, at::ScalarType dtype,
                   const Group& group, RunOptions& options) {
  const int64_t here = options.memory > 0 ? options.memory : free_memory() + resident_memory();
  const at::Tensor facts = group.all_reduce(
      at::tensor(
          {-here, resident_memory(), int64_t(group.local_size()), int64_t(group.process_size())},
          at::kLong),
      Reduce::kMax);
  const auto* v = facts.const_data_ptr<int64_t>();
  options.memory = std::max<int64_t>(-v[0], 1);
  return {.direction = direction,
          .batch = x.size(0),
          .height = x.size(2),
          .width = x.size(3),
          .dtype = dtype,
          .ranks = group.size(),
          .local_ranks = int(v[2]),
          .process_ranks = int(v[3]),
          .baseline = v[1]};
}

struct Ran {
  at::Tensor result;
  RunPlan plan;
  std::vector<RankReport> ranks;
  std::vector<std::string> notes;
};

Ran run(const AutoencoderKL& model, Direction direction, const at::Tensor& x,
        const Forward& forward, Group& group, RunOptions options) {
  Ran ran;
  const RunInput input = input_for(direction, x, model.dtype(), group, options);
  ran.plan = plan_run(model.config(), input, options);
  Operator op = operator_for(ran.plan, model.config().ratio());
  op.exec = [&](const TileTask& t) { return checked(forward, t.tensor[0], options.observer); };
  Executed done = execute(x, op, group,
                          {.parts = int64_t(ran.plan.owners.size()),
                           .broadcast = options.broadcast,
                           .workers = ran.plan.workers,
                           .threads_per_tile = ran.plan.threads_per_task,
                           .owners = ran.plan.owners,
                           .progress = options.progress});
  ran.result = std::move(done.result);
  ran.ranks = std::move(done.ranks);
  ran.notes = model.notes();
  ran.notes.insert(ran.notes.end(), ran.plan.notes.begin(), ran.plan.notes.end());
  return ran;
}

void check_input(const at::Tensor& x, int64_t channels, const char* what) {
  check(x.dim() == 4, what, " have ", x.dim(), " axes ", x.sizes(), ", not [batch, ", channels,
        ", height, width]");
  check(x.size(1) == channels, what, " have ", x.size(1), " channels, the model takes ", channels);
  check(x.numel() > 0, what, " are empty: ", x.sizes());
  check(x.is_floating_point(), what, " are ", c10::toString(x.scalar_type()),
        ", not floating point");
  check(at::isfinite(x).all().item<bool>(), what, " hold NaN or infinite values");
}

}  // namespace

Decoded AutoencoderKL::decode(const at::Tensor& z, Group& group, const RunOptions& options) const {
  check(weights_->decoder.has_value(), "decode: the decoder was not loaded (Part::kEncoder)");
  check_input(z, config().latent_channels, "latents");
  const Decoder& decoder = *weights_->decoder;
  Ran ran = run(
      *this, Direction::kDecode, z.to(weights_->device, dtype()),
      [&](at::Tensor x, const nn::Scope& s) { return forward(decoder, std::move(x), s); }, group,
      options);
  return {std::move(ran.result), std::move(ran.plan), std::move(ran.ranks), std::move(ran.notes)};
}

Encoded AutoencoderKL::encode(const at::Tensor& pixels, Group& group,
                              const RunOptions& options) const {
  check(weights_->encoder.has_value(), "encode: the encoder was not loaded (Part::kDecoder)");
  check_input(pixels, config().in_channels, "pixels");
  const Encoder& encoder = *weights_->encoder;
  Ran ran = run(
      *this, Direction::kEncode, pixels.to(weights_->device, dtype()),
      [&](at::Tensor x, const nn::Scope& s) { return forward(encoder, std::move(x), s); }, group,
      options);
  return {std::move(ran.result), std::move(ran.plan), std::move(ran.ranks), std::move(ran.notes)};
}

Posterior posterior(const at::Tensor& moments) {
  check(moments.dim() == 4 && moments.size(1) % 2 == 0,
        "moments have the shape [B, 2z, h, w], not ", moments.sizes());
  const int64_t z = moments.size(1) / 2;
  return {moments.narrow(1, 0, z), moments.narrow(1, z, z).clamp(-30, 20)};
}

at::Tensor sample(const Posterior& p, uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  const at::Tensor noise =
      at::randn(p.mean.sizes(), generator, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor std = (p.logvar * 0.5).exp();
  return p.mean + std * noise.to(std.options());
}

}  // namespace intarsia::vae
