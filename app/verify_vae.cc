#include <intarsia/vae.h>

#include "app/verify.h"
#include "aten.h"
#include "check.h"
#include "nn/scope.h"

namespace intarsia::app {
namespace {

using nlohmann::json;
using Status = CaseResult::Status;

/// Keeps the activations that a case names: "{case}/act/{module}@{call}".
struct Recorder : nn::Observer {
  std::map<std::string, at::Tensor> seen;
  std::map<std::string, int> calls;
  void output(const std::string& path, const at::Tensor& x) override {
    seen[c10::str(path, "@", calls[path]++)] = x.clone();
  }
};

struct Context {
  const CaseFolder& folder;
  const vae::AutoencoderKL& model;
  const VerifyArgs& args;
  Group& group;
};

bool is_decode(const json& c) { return c.at("op").get<std::string>().starts_with("decode"); }

vae::RunOptions options_for(const Context& ctx, const json& c) {
  vae::RunOptions options{.mode = vae::Mode::kNone, .threads = ctx.args.common.threads};
  if (!c.contains("tiling") || c.at("tiling").is_null()) return options;
  const json& t = c.at("tiling");
  options.mode = vae::Mode::kTile;
  options.tiles = {.tile = t.at("tile_sample_min_size").get<int64_t>(),
                   .overlap = t.at("tile_overlap_factor").get<double>()};
  const int64_t latent =
      t.value("tile_latent_min_size", *options.tiles.tile / ctx.model.config().ratio());
  check(latent * ctx.model.config().ratio() == *options.tiles.tile, "a tile of ", latent,
        " latent units is not one of ", *options.tiles.tile, " pixels");
  return options;
}

at::Tensor run(const Context& ctx, const json& c, const at::Tensor& x,
               const vae::RunOptions& options) {
  return is_decode(c) ? ctx.model.decode(x, ctx.group, options).sample
                      : ctx.model.encode(x, ctx.group, options).moments;
}

/// Tiles before blending: each part of the input, run whole.
void compare_tiles(const Context& ctx, const json& c, const at::Tensor& x, Judge& judge) {
  if (!c.contains("tiles")) return;
  for (const json& t : c.at("tiles")) {
    const at::Tensor part = x.narrow(2, t.at("y"), t.at("h")).narrow(3, t.at("x"), t.at("w"));
    const at::Tensor got = run(ctx, c, part, {.mode = vae::Mode::kNone});
    if (ctx.group.rank() == 0)
      judge.compare(t.at("name"), got, ctx.folder.tensor(t.at("name")), t.at("atol"));
  }
}

void compare_activations(const Context& ctx, const json& c, const Recorder& recorder,
                         Judge& judge) {
  if (!c.contains("activations") || ctx.group.rank() != 0) return;
  for (const json& a : c.at("activations")) {
    const std::string name = a.at("name");
    const std::string module = name.substr(name.find("/act/") + 5);
    const auto found = recorder.seen.find(module);
    check(found != recorder.seen.end(), name, ": the model has no module ", module);
    judge.compare(name, found->second, ctx.folder.tensor(name), a.at("atol"));
  }
}

void compare_moments(const Context& ctx, const json& c, const at::Tensor& moments, Judge& judge) {
  if (!c.contains("mean_tensor")) return;
  const vae::Posterior p = vae::posterior(moments);
  judge.compare("mean", p.mean, ctx.folder.tensor(c.at("mean_tensor")), c.at("atol"));
  judge.compare("logvar", p.logvar, ctx.folder.tensor(c.at("logvar_tensor")), c.at("atol"));
}

at::Tensor input_of(const Context& ctx, const json& c, Judge& judge) {
  const at::Tensor x = ctx.folder.tensor(c.at("input"));
  if (!c.contains("prepare")) return x;
  const at::Tensor z = vae::to_model_space(x, vae::LatentSpace::kScaled, ctx.model.config());
  judge.compare("prepared", z, ctx.folder.tensor(c.at("prepare").at("prepared")), 1e-5);
  return z;
}

void run_case(const Context& ctx, const json& c, CaseResult& result) {
  Judge judge;
  Recorder recorder;
  const at::Tensor x = input_of(ctx, c, judge);
  vae::RunOptions options = options_for(ctx, c);
  if (c.contains("activations")) options.observer = &recorder;
  const at::Tensor got = run(ctx, c, x, options);
  if (ctx.group.rank() == 0) {
    judge.compare("result", got, ctx.folder.tensor(c.at("expected")), c.at("atol"));
    if (!is_decode(c)) compare_moments(ctx, c, got, judge);
  }
  compare_tiles(ctx, c, x, judge);
  compare_activations(ctx, c, recorder, judge);
  judge.finish(result);
}

CaseResult result_of(const Context& ctx, const json& c) {
  CaseResult result{.name = c.at("name"), .op = c.at("op"), .word = ""};
  static const std::vector<std::string> known{"decode", "decode_tiled", "encode", "encode_tiled"};
  if (std::find(known.begin(), known.end(), result.op) == known.end()) {
    result.word = "operation not known";
    return result;
  }
  try {
    run_case(ctx, c, result);
  } catch (const json::exception& e) {
    result.status = Status::kFailed;
    result.error = std::numeric_limits<double>::infinity();
    result.word = std::string("cases.json: ") + e.what();
  } catch (const std::invalid_argument& e) {
    const bool quirk = c.value("quirk", false);
    result.status = quirk ? Status::kRefused : Status::kFailed;
    result.error = std::numeric_limits<double>::infinity();
    result.word = e.what();
  }
  return result;
}

}  // namespace

std::vector<CaseResult> verify_vae(const CaseFolder& folder, const VerifyArgs& args, Group& group) {
  const auto model = vae::AutoencoderKL::load(
      folder.path, {.dtype = dtype_of(args.common.dtype), .device = device_of(args.common.device)});
  const Context ctx{folder, model, args, group};
  std::vector<CaseResult> results;
  try {
    for (const json& c : folder.cases.at("cases"))
      if (c.at("name").get<std::string>().find(args.filter) != std::string::npos)
        results.push_back(result_of(ctx, c));
  } catch (const json::exception& e) {
    check(false, folder.path, "/cases.json: ", e.what());
  }
  return results;
}

}  // namespace intarsia::app
