#include "app/vae_common.h"

#include <intarsia/tensor_file.h>

#include <algorithm>
#include <cmath>

#include "aten.h"
#include "check.h"

namespace intarsia::app {

namespace fs = std::filesystem;
using nlohmann::json;

vae::RunOptions run_options(const Common& common, const VaeFlags& flags) {
  vae::RunOptions options;
  options.mode = vae::mode_of(flags.mode);
  options.tiles = {.tile = flags.tile, .overlap = flags.overlap};
  options.parts = flags.parts;
  options.broadcast = flags.broadcast;
  options.memory = flags.memory.empty() ? 0 : bytes_of(flags.memory);
  options.threads = common.threads;
  options.threads_per_tile = flags.threads_per_tile;
  return options;
}

at::Tensor load_latents(const Common& common, const std::string& file, const std::string& tensor,
                        const std::string& space, const vae::KlConfig& config,
                        std::optional<int64_t> height, std::optional<int64_t> width) {
  LoadedTensor loaded = read_tensor(file, tensor);
  vae::LatentSpace kind = vae::latent_space_of(space);
  if (loaded.comfy_latent) {
    kind = vae::LatentSpace::kModel;  // ComfyUI keeps latents in model space
    if (loaded.comfy_scale != 1.0)
      loaded.tensor = loaded.tensor.to(at::kFloat) * loaded.comfy_scale;
  }
  check(loaded.tensor.is_floating_point(), file, " holds ",
        c10::toString(loaded.tensor.scalar_type()), " values, not latents");
  if (loaded.tensor.dim() == 3 && kind != vae::LatentSpace::kPacked &&
      loaded.tensor.size(0) == config.latent_channels)
    loaded.tensor = loaded.tensor.unsqueeze(0);  // one picture without its batch axis
  if ((height || width) && kind != vae::LatentSpace::kPacked)
    say(common, "--height and --width are for packed latents; they are not used");
  const at::Tensor z = vae::to_model_space(loaded.tensor, kind, config, height, width);
  const double std = z.numel() > 1 ? z.std().item<double>() : 0;
  if (space == "model" && !loaded.comfy_latent && std < 1.5 * std::abs(config.scaling_factor) * 6 &&
      std > 0.5 && std < 1.5 && std::abs(config.scaling_factor - 1) > 0.3)
    say(common,
        file + ": a spread of " + number(std, 2) +
            " looks like scaled latents; if the picture comes out pale, use --latents scaled");
  return z;
}

at::Tensor load_pixels(const Common& common, const std::string& file, const std::string& fit,
                       int64_t ratio, int64_t max_pixels) {
  check(fit == "crop" || fit == "pad", "--fit ", fit, " is not known; use crop or pad");
  const Picture picture = read_picture(file, {.max_pixels = max_pixels});
  for (const std::string& note : picture.notes) say(common, file + ": " + note);
  at::Tensor x = vae::from_pixels(picture.pixels, picture.bits);
  const int64_t h = x.size(2), w = x.size(3);
  const auto whole = [&](int64_t v) {
    return fit == "crop" ? v / ratio * ratio : (v + ratio - 1) / ratio * ratio;
  };
  check(whole(h) > 0 && whole(w) > 0, file, ": ", w, "x", h,
        " pixels is smaller than one latent unit of ", ratio, "x", ratio, "; use --fit pad");
  if (whole(h) == h && whole(w) == w) return x;
  say(common, c10::str(file, ": ", w, "x", h, " ", fit == "crop" ? "cropped" : "padded", " to ",
                       whole(w), "x", whole(h), ", whole latent units of ", ratio, " pixels"));
  if (fit == "crop") return x.narrow(2, 0, whole(h)).narrow(3, 0, whole(w)).contiguous();
  return at::replication_pad2d(x, {0, whole(w) - w, 0, whole(h) - h});
}

json figure(double value) { return std::isfinite(value) ? json(value) : json("infinite"); }

int64_t peak_of(const std::vector<RankReport>& ranks) {
  int64_t peak = 0;
  for (const RankReport& r : ranks) peak = std::max(peak, r.peak_bytes);
  return peak;
}

void say_why(const Common& common, vae::Mode asked, const vae::RunPlan& plan) {
  if (asked != plan.mode) say(common, "mode " + vae::name_of(plan.mode) + ": " + plan.why);
}

std::string summary(const vae::RunPlan& plan, const std::vector<RankReport>& ranks,
                    double seconds) {
  std::string text = "mode " + vae::name_of(plan.mode);
  const int64_t working =
      std::count_if(ranks.begin(), ranks.end(), [](auto& r) { return r.tiles > 0; });
  if (plan.mode == vae::Mode::kTile)
    text += c10::str(", ", plan.grid.rows.size(), "x", plan.grid.cols.size(), " tiles on ", working,
                     working == 1 ? " rank" : " ranks");
  if (plan.mode == vae::Mode::kPatch)
    text += c10::str(", ", plan.patches.grid_rows, "x", plan.patches.grid_cols, " patches on ",
                     working, working == 1 ? " rank" : " ranks");
  return text + ", " + number(seconds, 2) + " s, peak " + bytes_text(peak_of(ranks));
}

json plan_json(const vae::RunPlan& plan) {
  json j{{"mode", vae::name_of(plan.mode)},
         {"why", plan.why},
         {"tasks", plan.workloads.size()},
         {"owners", plan.owners},
         {"workers", plan.workers},
         {"threads_per_task", plan.threads_per_task},
         {"out_height", plan.out_height},
         {"out_width", plan.out_width},
         {"arithmetic", plan.arithmetic},
         {"predicted_peak_bytes", plan.peak_bytes},
         {"task_bytes", plan.task_bytes},
         {"imbalance", imbalance(loads(plan.workloads, plan.owners))}};
  if (plan.mode == vae::Mode::kTile) j["grid"] = {plan.grid.rows.size(), plan.grid.cols.size()};
  if (plan.mode == vae::Mode::kPatch) j["grid"] = {plan.patches.grid_rows, plan.patches.grid_cols};
  return j;
}

json ranks_json(const std::vector<RankReport>& ranks) {
  json all = json::array();
  for (size_t r = 0; r < ranks.size(); ++r)
    all.push_back({{"rank", r},
                   {"tiles", ranks[r].tiles},
                   {"busy_seconds", ranks[r].busy},
                   {"waiting_seconds", ranks[r].waiting},
                   {"bytes_sent", ranks[r].bytes_sent},
                   {"peak_bytes", ranks[r].peak_bytes}});
  return all;
}

std::string timings(const std::vector<RankReport>& ranks) {
  std::vector<std::vector<std::string>> rows{
      {"rank", "tiles", "busy s", "waiting s", "sent", "peak of its process"}};
  for (size_t r = 0; r < ranks.size(); ++r)
    rows.push_back({std::to_string(r), std::to_string(ranks[r].tiles), number(ranks[r].busy, 2),
                    number(ranks[r].waiting, 2), bytes_text(ranks[r].bytes_sent),
                    bytes_text(ranks[r].peak_bytes)});
  return table(rows);
}

}  // namespace intarsia::app
