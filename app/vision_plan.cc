#include <intarsia/draw.h>
#include <intarsia/picture.h>

#include <iostream>

#include "app/outputs.h"
#include "app/vision_common.h"
#include "aten.h"
#include "check.h"

namespace intarsia::app {
namespace {

using nlohmann::json;
using vision::EncodePlan;
using vision::VisionConfig;

struct Plan {
  VisionConfig config;
  TpDp split;
  std::vector<Input> inputs;  ///< those that can be read
  EncodePlan plan;
  std::vector<PackItem> items;
};

/// What a call would send, all ranks together: sums over tp, keys and values of split items, and
/// the gather of the output rows.
int64_t wire_bytes(const Plan& p, int64_t element) {
  int64_t patches = 0, split = 0;
  for (const PackItem& item : p.items) patches += item.patches();
  for (const int64_t i : p.plan.split) split += p.items[i].patches();
  if (p.plan.packing.blocks > 0) patches = p.plan.packing.blocks * p.plan.packing.block_size;
  const auto& c = p.config;
  const int64_t sums =
      (p.split.tp - 1) * patches * (2 * c.depth * c.hidden + c.levels() * c.out_hidden / c.cell());
  const int64_t keys = (p.split.dp - 1) * split * 2 * c.hidden * c.depth;
  const int64_t gather = (p.split.dp - 1) * p.split.tp * patches / c.cell() * c.fat_width();
  return (sums + keys + gather) * element;
}

std::string owner_text(const Plan& p, int64_t item) {
  const auto& split = p.plan.split;
  if (std::find(split.begin(), split.end(), item) != split.end()) return "all";
  if (p.plan.packing.blocks > 0) {
    const int64_t each = p.plan.packing.blocks / p.split.dp;
    std::string text;
    int64_t last = -1;
    for (const Piece& piece : p.plan.packing.pieces)
      if (piece.item == item && piece.block / each != last) {
        last = piece.block / each;
        text += (text.empty() ? "" : ",") + std::to_string(last);
      }
    return text;
  }
  for (size_t d = 0; d < p.plan.owners.size(); ++d)
    if (std::find(p.plan.owners[d].begin(), p.plan.owners[d].end(), item) != p.plan.owners[d].end())
      return std::to_string(d);
  return "-";
}

void print_text(const Plan& p, int64_t element) {
  std::vector<std::vector<std::string>> rows{
      {"item", "size", "grid", "patches", "rows", "dp rank", "file"}};
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const Input& in = p.inputs[i];
    rows.push_back({c10::str("#", i), c10::str(in.width, "x", in.height), text_of(in.grid),
                    std::to_string(in.grid.patches()),
                    std::to_string(in.grid.merged(p.config.merge)), owner_text(p, int64_t(i)),
                    in.file});
  }
  std::cout << table(rows) << "\n";
  const auto& packing = p.plan.packing;
  if (packing.blocks > 0)
    std::cout << packing.blocks << " blocks of " << packing.block_size << " patches, bucket "
              << p.plan.bucket << ", " << number(100 * block_efficiency(packing, p.items), 1)
              << " % of a dense block attention is of use\n";
  std::vector<std::vector<std::string>> loads{{"dp rank", "work", "share", "runs"}};
  double total = 0;
  for (const double l : p.plan.loads) total += l;
  for (size_t d = 0; d < p.plan.loads.size(); ++d)
    loads.push_back(
        {std::to_string(d), number(p.plan.loads[d] / 1e9, 1) + " GFLOP",
         number(total > 0 ? 100 * p.plan.loads[d] / total : 0, 1) + " %",
         c10::str(p.plan.owners[d].size(), packing.blocks > 0 ? " blocks" : " items",
                  p.plan.split.empty() ? "" : c10::str(" + ", p.plan.split.size(), " shared"))});
  std::cout << table(loads) << "imbalance (largest over mean) "
            << number(imbalance(p.plan.loads), 3) << ", tp " << p.split.tp << ", dp " << p.split.dp
            << ", about " << bytes_text(wire_bytes(p, element)) << " between ranks\n";
}

json as_json(const Plan& p, int64_t element) {
  json items = json::array();
  for (size_t i = 0; i < p.inputs.size(); ++i)
    items.push_back({{"input", p.inputs[i].file},
                     {"width", p.inputs[i].width},
                     {"height", p.inputs[i].height},
                     {"grid", {p.inputs[i].grid.t, p.inputs[i].grid.h, p.inputs[i].grid.w}},
                     {"patches", p.inputs[i].grid.patches()},
                     {"rows", p.inputs[i].grid.merged(p.config.merge)},
                     {"dp_rank", owner_text(p, int64_t(i))}});
  return {{"tp", p.split.tp},
          {"dp", p.split.dp},
          {"items", items},
          {"split", p.plan.split},
          {"owners", p.plan.owners},
          {"loads_flop", p.plan.loads},
          {"imbalance", imbalance(p.plan.loads)},
          {"bucket", p.plan.bucket},
          {"blocks", p.plan.packing.blocks},
          {"block_size", p.plan.packing.block_size},
          {"efficiency", block_efficiency(p.plan.packing, p.items)},
          {"wire_bytes", wire_bytes(p, element)}};
}

/// A bar a dp rank, as long as its work, in pieces by item.
void draw_plan(const std::string& path, const Plan& p) {
  constexpr int64_t kBar = 40, kLeft = 110, kWidth = 900;
  double most = 1e-300;
  for (const double l : p.plan.loads) most = std::max(most, l);
  draw::Canvas canvas(int64_t(p.plan.loads.size()) * (kBar + 10) + 10, kLeft + kWidth + 10,
                      {255, 255, 255});
  const Cost cost = vision::flops(p.config);
  const int64_t each = std::max<int64_t>(1, p.plan.packing.blocks / p.split.dp);
  for (int64_t d = 0; d < p.split.dp; ++d) {
    const int64_t top = 10 + d * (kBar + 10);
    canvas.text(8, top + 14, c10::str("dp rank ", d), {0, 0, 0}, 2);
    double at = 0;
    const auto piece = [&](int64_t item, double work) {
      const draw::Box box{kLeft + int64_t(at / most * kWidth), top,
                          kLeft + int64_t((at + work) / most * kWidth), top + kBar};
      canvas.fill(box, draw::rank_colour(item));
      canvas.frame(box, {40, 40, 40});
      const std::string name = c10::str("#", item);
      if (box.right - box.left > draw::text_width(name) + 6)
        canvas.text(box.left + 4, top + 16, name, draw::ink_on(draw::rank_colour(item)));
      at += work;
    };
    for (const int64_t i : p.plan.split) piece(i, cost.of(p.items[i]) / double(p.split.dp));
    for (const Piece& part : p.plan.packing.pieces)
      if (part.block / each == d)
        piece(part.item, cost.of({part.frames, p.items[part.item].frame_patches}));
    for (const int64_t i : p.plan.packing.blocks > 0 ? std::vector<int64_t>() : p.plan.owners[d])
      piece(i, cost.of(p.items[i]));
  }
  write_picture(path, canvas.pixels());
}

}  // namespace

int vision_plan(const VisionPlanArgs& args) {
  if (!args.out.empty()) check_picture_output(args.out, args.files);
  const Processors processors = processors_of(args.flags, args.model);
  Plan p;
  p.config = vision::read_vision_config(args.model);
  p.split = resolve_tp_dp(args.flags.tp, args.flags.dp, std::max(1, args.common.ranks));
  const auto legal = vision::legal_tp(p.config);
  check(std::find(legal.begin(), legal.end(), p.split.tp) != legal.end(), "tp ", p.split.tp,
        " does not divide the encoder; these do: ", at::IntArrayRef(legal));
  size_t failed = 0;
  for (const Input& input : inputs_of(args.files, processors)) {
    if (input.error.empty())
      p.inputs.push_back(input);
    else
      say({}, input.error), ++failed;
  }
  check(!p.inputs.empty(), "none of the ", failed, " files can be encoded");
  std::vector<vision::Grid> grids;
  for (const Input& input : p.inputs) grids.push_back(input.grid);
  p.items = vision::pack_items(grids);
  p.plan = vision::plan_encode(p.config, grids, p.split.dp, encode_options(args.flags));
  const auto element = int64_t(c10::elementSize(dtype_of(args.common.dtype)));
  if (!args.out.empty()) draw_plan(args.out, p);
  if (args.common.json)
    std::cout << as_json(p, element).dump(1) << std::endl;
  else
    print_text(p, element);
  return failed == 0 ? 0 : 1;
}

}  // namespace intarsia::app
