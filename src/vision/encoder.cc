#include <intarsia/vision.h>

#include <chrono>
#include <cstring>

#include "aten.h"
#include "check.h"
#include "group/memory.h"
#include "vision/units.h"

namespace intarsia::vision {

struct Encoder::Impl {
  Tower tower;
  TpDp split;
  Group world, tp, dp;  ///< dp: the ranks with the same part of the weights
  std::vector<std::string> notes;
};

namespace {

using Clock = std::chrono::steady_clock;

TpDp checked_split(const VisionConfig& config, const LoadOptions& options, int64_t world,
                   std::vector<std::string>& notes) {
  const TpDp split = resolve_tp_dp(options.tp, options.dp, world);
  const auto legal = legal_tp(config);
  if (std::find(legal.begin(), legal.end(), split.tp) != legal.end()) return split;
  const std::string why =
      c10::str("tp ", split.tp, " does not divide the encoder's ", config.heads,
               " heads, MLP width ", config.intermediate, " and merger width ",
               config.cell() * config.hidden, "; these do: ", at::IntArrayRef(legal));
  check(options.replicate_if_illegal, why,
        " (or let every rank hold the whole encoder: --tp-fallback replicate)");
  notes.push_back(why + ". Every rank holds the whole encoder instead (tp 1, dp " +
                  std::to_string(world) + ")");
  return {1, world};
}

void check_items(const std::vector<Item>& items, const VisionConfig& config) {
  for (const Item& item : items) {
    const Grid& g = item.grid;
    check(g.t >= 1 && g.h >= config.merge && g.w >= config.merge && g.h % config.merge == 0 &&
              g.w % config.merge == 0,
          item.name, ": a grid of ", g.t, "x", g.h, "x", g.w, " patches; rows and columns must be ",
          "multiples of ", config.merge);
    check(static_cast<bool>(item.patches), item.name, ": nothing gives its patches");
  }
}

/// Every rank must bring the same list.
void check_same(const std::vector<Item>& items, const Group& world) {
  uint64_t hash = items.size();
  for (const Item& item : items)
    for (const int64_t v : {item.grid.t, item.grid.h, item.grid.w})
      hash = (hash ^ uint64_t(v)) * 1099511628211u;
  const at::Tensor all = world.all_gather(at::full({1}, int64_t(hash), at::kLong));
  for (int r = 1; r < world.size(); ++r)
    check(all[r].item<int64_t>() == all[0].item<int64_t>(), "ranks 0 and ", r,
          " were given different items; every rank must bring the same list");
}

/// Runs this rank's units.
class Run {
 public:
  Run(const Tower& tower, const TpDp& split, const Group& tp, const Group& dp,
      const std::vector<Item>& items, const std::vector<Unit>& units, const EncodeOptions& options)
      : errors(items.size()),
        unread(items.size()),
        tower_(tower),
        split_(split),
        tp_(tp),
        dp_(dp),
        items_(items),
        units_(units),
        options_(options) {}

  void all() {
    Patchloader loader(items_, units_, tower_.config.features());
    for (size_t i = 0; i < units_.size(); ++i) {
      rows.push_back(unit(units_[i], loader.take(i)));
      if (options_.progress && tp_.rank() == 0 && dp_.rank() == 0)
        options_.progress(int64_t(i) + 1, int64_t(units_.size()));
    }
  }

  std::vector<at::Tensor> rows;     ///< output rows of each unit; none where its item failed
  std::vector<std::string> errors;  ///< of each item, on the ranks that ran it
  std::vector<std::string> unread;  ///< not empty: the item has no rows at all

 private:
  at::Tensor no_rows() const {
    return at::empty({0, tower_.config.fat_width()},
                     at::TensorOptions(tower_.device).dtype(tower_.dtype));
  }

  /// A part that one rank cannot load is run by none.
  void agree(const Unit& unit, Patchloader::Loaded& loaded) {
    at::Tensor bad = at::zeros({int64_t(unit.parts.size())}, at::kInt);
    for (size_t i = 0; i < unit.parts.size(); ++i) bad[i] = loaded.errors[i].empty() ? 0 : 1;
    if (unit.parts.empty()) return;
    bad = tp_.all_reduce(bad, Reduce::kMax);
    if (unit.split) bad = dp_.all_reduce(bad, Reduce::kMax);
    for (size_t i = 0; i < unit.parts.size(); ++i) {
      if (bad[i].item<int>() == 0) continue;
      loaded.patches[i].reset();
      std::string& error = errors[unit.parts[i].item];
      error = loaded.errors[i].empty() ? "another rank could not read it" : loaded.errors[i];
      unread[unit.parts[i].item] = error;
    }
  }

  at::Tensor unit(const Unit& unit, Patchloader::Loaded loaded) {
    agree(unit, loaded);
    const bool block = options_.block_size > 0;
    if (!block && !loaded.patches[0].defined()) return no_rows();
    const UnitInput input = input_of(tower_, unit, loaded.patches, split_.dp, dp_.rank());
    loaded = {};
    const Group alone = Group::solo();
    const at::Tensor y = run_tower(tower_, input.tokens, input.pixels, tp_,
                                   unit.split ? dp_ : alone, nn::Scope(options_.observer));
    find_nan(unit, y);
    return y;
  }

  void find_nan(const Unit& unit, const at::Tensor& y) {
    for (const Unit::Part& part : unit.parts) {
      const int64_t cell = tower_.config.cell();
      const at::Tensor mine =
          unit.split ? y : y.narrow(0, part.offset / cell, part.grid.patches() / cell);
      if (!at::isfinite(mine).all().item<bool>())
        errors[part.item] = "its embedding holds NaN or infinite values; try float32";
    }
  }

  const Tower& tower_;
  const TpDp& split_;
  const Group& tp_;
  const Group& dp_;
  const std::vector<Item>& items_;
  const std::vector<Unit>& units_;
  const EncodeOptions& options_;
};

/// Errors of all ranks: the first that was met of each item.
void share_errors(std::vector<std::string>& errors, const Group& dp) {
  std::string mine;
  for (size_t i = 0; i < errors.size(); ++i)
    if (!errors[i].empty()) mine += std::to_string(i) + '\n' + errors[i] + '\0';
  at::Tensor bytes = at::empty({int64_t(mine.size())}, at::kByte);
  if (!mine.empty()) std::memcpy(bytes.mutable_data_ptr(), mine.data(), mine.size());
  const at::Tensor all = dp.all_gather(bytes);
  const std::string text(static_cast<const char*>(all.const_data_ptr()), size_t(all.numel()));
  for (size_t at = 0; at < text.size();) {
    const size_t line = text.find('\n', at), end = text.find('\0', line);
    std::string& error = errors[std::stoull(text.substr(at, line - at))];
    if (error.empty()) error = text.substr(line + 1, end - line - 1);
    at = end + 1;
  }
}

at::Tensor joined(const std::vector<at::Tensor>& rows, const Tower& tower) {
  if (rows.size() == 1) return rows[0];
  if (!rows.empty()) return at::cat(rows);
  return at::empty({0, tower.config.fat_width()},
                   at::TensorOptions(tower.device).dtype(tower.dtype));
}

/// Each item's rows among those gathered: by rank, then unit.
std::vector<at::Tensor> rows_of_items(const at::Tensor& all, const EncodePlan& plan,
                                      std::span<const Grid> grids, const VisionConfig& config,
                                      const std::vector<std::string>& unread, int64_t dp) {
  std::vector<std::vector<at::Tensor>> parts(grids.size());
  int64_t at = 0;
  const auto take = [&](int64_t item, int64_t rows) {
    if (!unread[item].empty()) return;
    parts[item].push_back(all.narrow(0, at, rows));
    at += rows;
  };
  for (int64_t d = 0; d < dp; ++d) {
    for (const int64_t i : plan.split)
      take(i, even_part(grids[i].patches() / config.cell(), dp, d).size());
    for (const int64_t i : plan.owners[d]) take(i, grids[i].patches() / config.cell());
  }
  std::vector<at::Tensor> rows;
  for (const auto& p : parts) rows.push_back(p.empty() ? at::Tensor() : joined(p, {}));
  return rows;
}

std::vector<at::Tensor> rows_of_blocks(const at::Tensor& all, const EncodePlan& plan,
                                       std::span<const Grid> grids, const VisionConfig& config) {
  const auto items = pack_items(grids);
  const Unpack unpack = unpack_rows(plan.packing, items, config.cell());
  std::vector<at::Tensor> rows;
  int64_t at = 0;
  for (const PackItem& item : items) {
    const int64_t count = item.patches() / config.cell();
    const at::Tensor index =
        at::tensor(at::ArrayRef<int64_t>(unpack.rows).slice(size_t(at), size_t(count)), at::kLong);
    rows.push_back(all.index_select(0, index.to(all.device())));
    at += count;
  }
  return rows;
}

Embedding embedding_of(const Grid& grid, const at::Tensor& rows, const VisionConfig& config,
                       const std::string& error) {
  Embedding e{.grid = grid, .main = {}, .deepstack = {}, .error = error};
  if (!error.empty()) return e;
  at::Tensor ordered = rows;
  if (config.window > 0) {
    const auto windows = windows_of(grid, config.merge, config.window_cells());
    at::Tensor back = at::empty({int64_t(windows.order.size())}, at::kLong);
    back.index_put_({at::tensor(windows.order, at::kLong)},
                    at::arange(int64_t(windows.order.size()), at::kLong));
    ordered = rows.index_select(0, back.to(rows.device()));
  }
  e.main = ordered.narrow(1, 0, config.out_hidden).contiguous();
  for (int64_t level = 1; level < config.levels(); ++level)
    e.deepstack.push_back(
        ordered.narrow(1, level * config.out_hidden, config.out_hidden).contiguous());
  return e;
}

std::vector<EncodeReport> reports(const Group& world, double busy, const GroupStats& before,
                                  const std::vector<const Group*>& groups) {
  double waiting = -before.seconds_waiting, sent = -double(before.bytes_sent);
  for (const Group* g : groups) {
    waiting += g->stats().seconds_waiting;
    sent += double(g->stats().bytes_sent);
  }
  const at::Tensor all = world.all_gather(
      at::tensor({busy, waiting, sent, double(peak_memory())}, at::kDouble).unsqueeze(0));
  std::vector<EncodeReport> ranks;
  for (int r = 0; r < world.size(); ++r)
    ranks.push_back({all[r][0].item<double>(), all[r][1].item<double>(),
                     int64_t(all[r][2].item<double>()), int64_t(all[r][3].item<double>())});
  return ranks;
}

}  // namespace

Item item_of(std::string name, const Patches& patches) {
  return {std::move(name), patches.grid, [values = patches.values] { return values; }};
}

Encoder Encoder::load(const std::filesystem::path& path, Group& world, const LoadOptions& options) {
  const VisionConfig config = read_vision_config(path);
  std::vector<std::string> notes;
  const TpDp split = checked_split(config, options, world.size(), notes);
  Group tp = world.split(world.rank() / split.tp), dp = world.split(world.rank() % split.tp);
  Tower tower =
      load_tower(Checkpoint::open(path), config, split, tp.rank(), options.dtype, options.device);
  return Encoder(std::make_shared<const Impl>(
      Impl{std::move(tower), split, world, std::move(tp), std::move(dp), std::move(notes)}));
}

const VisionConfig& Encoder::config() const { return impl_->tower.config; }
TpDp Encoder::split() const { return impl_->split; }
int64_t Encoder::weight_bytes() const { return impl_->tower.bytes; }
const std::vector<std::string>& Encoder::notes() const { return impl_->notes; }

Encoded Encoder::encode(const std::vector<Item>& items, const EncodeOptions& options) const {
  const auto& [tower, split, world, tp, dp, notes] = *impl_;
  check_items(items, tower.config);
  check_same(items, world);
  std::vector<Grid> grids;
  for (const Item& item : items) grids.push_back(item.grid);
  Encoded out;
  out.notes = notes;
  out.plan = plan_encode(tower.config, grids, split.dp, options);

  GroupStats before;
  for (const Group* g : {&tp, &dp}) {
    before.seconds_waiting += g->stats().seconds_waiting;
    before.bytes_sent += g->stats().bytes_sent;
  }
  const auto start = Clock::now();
  const auto units = units_of(out.plan, grids, options.block_size, dp.rank());
  Run run(tower, split, tp, dp, items, units, options);
  run.all();
  const double busy = std::chrono::duration<double>(Clock::now() - start).count();

  share_errors(run.unread, dp);
  share_errors(run.errors, dp);
  const at::Tensor all = dp.all_gather(joined(run.rows, tower));  // one fat gather
  const auto rows = options.block_size == 0
                        ? rows_of_items(all, out.plan, grids, tower.config, run.unread, split.dp)
                        : rows_of_blocks(all, out.plan, grids, tower.config);
  for (size_t i = 0; i < items.size(); ++i)
    out.items.push_back(
        embedding_of(grids[i], rows[i], tower.config,
                     run.errors[i].empty() ? "" : items[i].name + ": " + run.errors[i]));
  out.ranks = reports(world, busy, before, {&tp, &dp});
  return out;
}

}  // namespace intarsia::vision
