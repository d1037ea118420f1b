#include <intarsia/tensor_file.h>
#include <intarsia/vision.h>

#include "app/verify.h"
#include "aten.h"
#include "check.h"
#include "nn/scope.h"
#include "vision/positions.h"

namespace intarsia::app {
namespace {

using nlohmann::json;
using vision::Embedding;
using vision::Grid;
using Status = CaseResult::Status;

struct Recorder : nn::Observer {
  std::map<std::string, at::Tensor> seen;
  void output(const std::string& path, const at::Tensor& x) override { seen[path] = x.clone(); }
};

struct Context {
  const CaseFolder& folder;
  const vision::Encoder& encoder;
  std::map<std::string, std::map<std::string, at::Tensor>> pixels;  ///< by file
};

const std::map<std::string, at::Tensor>& pixels_of(Context& ctx, const json& c) {
  const std::string file = c.at("pixels");
  auto& tensors = ctx.pixels[file];
  if (tensors.empty()) tensors = read_tensors(std::filesystem::path(ctx.folder.path) / file);
  return tensors;
}

const at::Tensor& named(const std::map<std::string, at::Tensor>& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  check(found != tensors.end(), "the pixel file has no tensor ", name);
  return found->second;
}

Grid grid_of(const at::Tensor& thw) {
  const at::Tensor g = thw.to(at::kLong).reshape({-1});
  check(g.numel() == 3, "grid_thw has ", g.numel(), " numbers, not 3");
  return {g[0].item<int64_t>(), g[1].item<int64_t>(), g[2].item<int64_t>()};
}

vision::Item item_of(Context& ctx, const json& c, const std::string& pixels,
                     const std::string& grid) {
  const auto& tensors = pixels_of(ctx, c);
  return {pixels, grid_of(named(tensors, grid)), [x = named(tensors, pixels)] { return x; }};
}

vision::Item item_of(Context& ctx, const json& c) {
  return item_of(ctx, c, c.at("pixel_values"), c.at("grid_thw"));
}

const at::Tensor& level(const Embedding& e, const std::string& what) {
  check(e.error.empty(), e.error);
  if (what == "pooler") return e.main;
  const size_t k = std::stoul(what.substr(what.find('.') + 1));
  check(k < e.deepstack.size(), "the model has no ", what);
  return e.deepstack[k];
}

void run_tower(Context& ctx, const json& c, Judge& judge) {
  const auto out = ctx.encoder.encode({item_of(ctx, c)});
  for (const auto& [what, name] : c.at("expect").items())
    judge.compare(what, level(out.items[0], what), ctx.folder.tensor(name), c.at("atol").at(what));
}

/// All in one call are each alone.
void run_batch(Context& ctx, const json& c, Judge& judge) {
  std::vector<vision::Item> items;
  for (const std::string name : c.at("images"))
    items.push_back(item_of(ctx, c, name + ".pixel_values", name + ".grid_thw"));
  const auto batch = ctx.encoder.encode(items);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto alone = ctx.encoder.encode({items[i]});
    judge.compare(items[i].name, batch.items[i].main, alone.items[0].main, 1e-5);
  }
}

void run_intermediates(Context& ctx, const json& c, Judge& judge) {
  Recorder recorder;
  const vision::Item item = item_of(ctx, c);
  ctx.encoder.encode({item},
                     {.split = vision::EncodeOptions::Split::kNever, .observer = &recorder});
  if (recorder.seen.empty()) return;  // another rank ran it
  const auto& config = ctx.encoder.config();
  const auto turn =
      vision::rotary(vision::cell_order(item.grid, config.merge), config.head_dim(), config.theta);
  for (const auto& [what, name] : c.at("expect").items()) {
    at::Tensor got;
    if (what == "rope_cos") got = turn.cos;
    if (what == "rope_sin") got = turn.sin;
    if (what.starts_with("block.")) got = recorder.seen["blocks." + what.substr(6)];
    if (what == "block_input") got = recorder.seen["block_input"];
    if (what == "last_hidden_state") got = recorder.seen[c10::str("blocks.", config.depth - 1)];
    if (!got.defined()) continue;  // such as patch_embed, which is in another order with windows
    const at::Tensor& want = ctx.folder.tensor(name);
    judge.compare(what, got.reshape(want.sizes()), want, c.at("atol").at(what));
  }
}

void run_windows(Context& ctx, const json& c, Judge& judge) {
  const auto& config = ctx.encoder.config();
  const Grid grid = grid_of(named(pixels_of(ctx, c), c.at("grid_thw")));
  const auto w = vision::windows_of(grid, config.merge, config.window_cells());
  judge.compare("index", at::tensor(w.order, at::kLong),
                ctx.folder.tensor(c.at("expect").at("index")), 0);
  std::vector<int64_t> ends{0};
  ends.insert(ends.end(), w.ends.begin(), w.ends.end());
  judge.compare("cu_seqlens", at::tensor(ends, at::kLong),
                ctx.folder.tensor(c.at("expect").at("cu_seqlens")), 0);
}

CaseResult result_of(Context& ctx, const json& c) {
  CaseResult result{.name = c.at("id"), .op = c.at("op"), .word = ""};
  static const std::map<std::string, void (*)(Context&, const json&, Judge&)> known{
      {"vision_tower", run_tower},
      {"vision_tower_batch", run_batch},
      {"vision_intermediates", run_intermediates},
      {"window_index", run_windows}};
  const auto run = known.find(result.op);
  if (run == known.end()) {
    result.word = "operation not known";
    return result;
  }
  try {
    Judge judge;
    run->second(ctx, c, judge);
    judge.finish(result);
  } catch (const json::exception& e) {
    result.status = Status::kFailed;
    result.error = std::numeric_limits<double>::infinity();
    result.word = std::string("cases.json: ") + e.what();
  } catch (const std::invalid_argument& e) {
    result.status = Status::kFailed;
    result.error = std::numeric_limits<double>::infinity();
    result.word = e.what();
  }
  return result;
}

}  // namespace

std::vector<CaseResult> verify_vision(const CaseFolder& folder, const VerifyArgs& args,
                                      Group& world) {
  const auto encoder = vision::Encoder::load(folder.path, world,
                                             {.tp = args.tp,
                                              .dtype = dtype_of(args.common.dtype),
                                              .device = device_of(args.common.device)});
  Context ctx{folder, encoder, {}};
  std::vector<CaseResult> results;
  try {
    for (const json& c : folder.cases.at("cases"))
      if (c.at("id").get<std::string>().find(args.filter) != std::string::npos)
        results.push_back(result_of(ctx, c));
  } catch (const json::exception& e) {
    check(false, folder.path, "/cases.json: ", e.what());
  }
  return results;
}

}  // namespace intarsia::app
