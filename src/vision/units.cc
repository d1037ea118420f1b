#include "vision/units.h"

#include "aten.h"
#include "check.h"

namespace intarsia::vision {
namespace {

Unit whole_item(int64_t item, const Grid& grid, bool split) {
  return {.parts = {{item, grid, 0, 0}}, .tokens = grid.patches(), .split = split};
}

void append(std::vector<Range>& to, const std::vector<Range>& from, int64_t offset) {
  for (const Range& r : from) to.push_back({r.begin + offset, r.end + offset});
}

void copy_rows(at::Tensor& to, const at::Tensor& from, int64_t offset) {
  to.narrow(0, offset, from.size(0)).copy_(from);
}

/// A unit of one part without padding: nothing is copied.
bool is_plain(const Unit& unit) {
  return unit.parts.size() == 1 && unit.parts[0].grid.patches() == unit.tokens;
}

at::Tensor in_order(const at::Tensor& patches, const Unit::Part& part, const at::Tensor& order) {
  const at::Tensor here = patches.narrow(0, part.first, part.grid.patches());
  return order.defined() ? here.index_select(0, order) : here;
}

UnitInput plain_input(const Tower& tower, const Unit& unit, const at::Tensor& patches, int64_t dp,
                      int64_t dp_rank) {
  const ItemTokens item = tokens_of(tower, unit.parts[0].grid);
  UnitInput input{item.tokens, {}};
  if (unit.split) {
    const Range rows = even_part(unit.tokens / tower.config.cell(), dp, dp_rank);
    input.tokens.mine = {rows.begin * tower.config.cell(), rows.end * tower.config.cell()};
  }
  input.pixels = in_order(patches, unit.parts[0], item.order)
                     .narrow(0, input.tokens.mine.begin, input.tokens.mine.size());
  return input;
}

UnitInput block_input(const Tower& tower, const Unit& unit,
                      const std::vector<at::Tensor>& patches) {
  const VisionConfig& c = tower.config;
  UnitInput input;
  Tokens& t = input.tokens;
  t.total = unit.tokens;
  t.mine = {0, unit.tokens};
  t.cos = at::zeros({unit.tokens, c.head_dim()}, tower.device);
  t.sin = at::zeros_like(t.cos);
  if (tower.position_table.defined())
    t.positions =
        at::zeros({unit.tokens, c.hidden}, at::TensorOptions(tower.device).dtype(tower.dtype));
  input.pixels = at::zeros({unit.tokens, c.features()});
  for (size_t i = 0; i < unit.parts.size(); ++i) {
    if (!patches[i].defined()) continue;
    const Unit::Part& part = unit.parts[i];
    const ItemTokens item = tokens_of(tower, part.grid);
    copy_rows(input.pixels, in_order(patches[i], part, item.order), part.offset);
    copy_rows(t.cos, item.tokens.cos, part.offset);
    copy_rows(t.sin, item.tokens.sin, part.offset);
    if (t.positions.defined()) copy_rows(t.positions, item.tokens.positions, part.offset);
    append(t.frames, item.tokens.frames, part.offset);
    append(t.windows, item.tokens.windows, part.offset);
  }
  return input;
}

}  // namespace

std::vector<Unit> units_of(const EncodePlan& plan, std::span<const Grid> grids, int64_t block_size,
                           int64_t dp_rank) {
  std::vector<Unit> units;
  if (block_size == 0) {
    for (const int64_t i : plan.split) units.push_back(whole_item(i, grids[i], true));
    for (const int64_t i : plan.owners[dp_rank]) units.push_back(whole_item(i, grids[i], false));
    return units;
  }
  const auto& mine = plan.owners[dp_rank];
  for (size_t b = 0; b < mine.size(); ++b) units.push_back({.tokens = block_size});
  for (const Piece& p : plan.packing.pieces) {
    if (mine.empty() || p.block < mine.front() || p.block > mine.back()) continue;
    const Grid& g = grids[p.item];
    units[p.block - mine.front()].parts.push_back(
        {p.item, {p.frames, g.h, g.w}, p.first_frame * g.h * g.w, p.offset});
  }
  for (Unit& unit : units)
    std::sort(unit.parts.begin(), unit.parts.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return units;
}

UnitInput input_of(const Tower& tower, const Unit& unit, const std::vector<at::Tensor>& patches,
                   int64_t dp, int64_t dp_rank) {
  return is_plain(unit) ? plain_input(tower, unit, patches[0], dp, dp_rank)
                        : block_input(tower, unit, patches);
}

Patchloader::Patchloader(const std::vector<Item>& items, const std::vector<Unit>& units,
                         int64_t features)
    : items_(items), units_(units), features_(features) {
  if (!units.empty()) next_ = std::async(std::launch::async, [this] { return load(0); });
}

Patchloader::Loaded Patchloader::take(size_t index) {
  Loaded loaded = next_.get();
  if (index + 1 < units_.size())
    next_ = std::async(std::launch::async, [this, index] { return load(index + 1); });
  return loaded;
}

Patchloader::Loaded Patchloader::load(size_t index) const {
  const c10::InferenceMode inference;
  Loaded loaded;
  for (const Unit::Part& part : units_[index].parts) {
    at::Tensor patches;
    std::string error;
    try {
      const Item& item = items_[part.item];
      patches = item.patches();
      const std::vector<int64_t> shape{item.grid.patches(), features_};
      check(patches.defined() && patches.sizes() == shape, item.name, ": its patches are ",
            patches.defined() ? c10::str(patches.sizes()) : "undefined", ", its grid asks for ",
            at::IntArrayRef(shape));
      check(at::isfinite(patches).all().item<bool>(), item.name,
            ": its patches hold NaN or infinite values");
    } catch (const c10::Error& e) {
      error = e.what_without_backtrace();
    } catch (const std::exception& e) {
      error = e.what();
    }
    loaded.patches.push_back(error.empty() ? patches : at::Tensor());
    loaded.errors.push_back(error);
  }
  return loaded;
}

}  // namespace intarsia::vision
