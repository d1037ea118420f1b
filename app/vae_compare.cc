#include <intarsia/compare.h>
#include <intarsia/draw.h>
#include <intarsia/picture.h>
#include <intarsia/tensor_file.h>

#include <cmath>
#include <iostream>
#include <optional>

#include "app/vae_common.h"
#include "aten.h"
#include "check.h"

namespace intarsia::app {
namespace {

using nlohmann::json;

/// One side of a comparison, as a tensor and, if it is one, as a picture.
struct Side {
  std::string name;
  at::Tensor values;  ///< a picture: [H, W, 3] 0…255 (16 bits: 0…255 in steps of 1/257)
  bool picture = false;
};

/// Borders of tiles in the result, in pixels.
struct Borders {
  std::vector<int64_t> rows, cols;
  bool empty() const { return rows.empty() && cols.empty(); }
};

Side read_side(const Common& voice, const std::string& file) {
  if (!is_picture(file)) return {file, read_tensor(file).tensor, false};
  const Picture p = read_picture(file);
  for (const std::string& note : p.notes) say(voice, file + ": " + note);
  return {file, p.bits == 16 ? p.pixels.to(at::kDouble) / 257 : p.pixels, true};
}

Borders every(int64_t step, const at::Tensor& picture) {
  Borders b;
  for (int64_t y = step; y < picture.size(0); y += step) b.rows.push_back(y);
  for (int64_t x = step; x < picture.size(1); x += step) b.cols.push_back(x);
  return b;
}

void add_borders(const vae::RunPlan& plan, Borders& b) {
  if (plan.mode != vae::Mode::kTile) return;
  int64_t at = 0;
  for (const TileSpan& s : plan.grid.rows) {
    if (at > 0) b.rows.push_back(at);
    at += s.kept;
  }
  at = 0;
  for (const TileSpan& s : plan.grid.cols) {
    if (at > 0) b.cols.push_back(at);
    at += s.kept;
  }
}

/// What both sides say, on rank 0.
struct Pair {
  Side a, b;
  Borders borders;
  std::vector<std::string> settings;  ///< in words, where one latent was decoded twice
};

Pair two_files(const CompareArgs& args) {
  Pair pair{
      read_side(args.common, args.first_input), read_side(args.common, args.second_input), {}, {}};
  check(pair.a.picture == pair.b.picture, pair.a.picture ? pair.a.name : pair.b.name,
        " is a picture, ", pair.a.picture ? pair.b.name : pair.a.name,
        " a tensor; compare two of one kind");
  if (!args.seams) return pair;
  check(pair.a.picture, "--seams looks at pictures; these are tensors");
  check(args.seam_every >= 8,
        "--seams of two files needs --seam-every, the pixels between tile borders (8 or more), "
        "such as 96");
  pair.borders = every(args.seam_every, pair.a.values);
  return pair;
}

/// The latent decoded under both settings; collective, the pair on rank 0.
std::optional<Pair> two_settings(const CompareArgs& args, const vae::AutoencoderKL& model,
                                 Group& group) {
  const bool first = group.rank() == 0;
  const Common voice = first ? args.common : Common{.quiet = true};
  const at::Tensor z =
      load_latents(voice, args.second_input, "", args.space, model.config(), {}, {});
  Pair pair;
  VaeFlags second = args.second;
  second.memory = args.first.memory;
  second.parts = args.first.parts;
  second.threads_per_tile = args.first.threads_per_tile;
  for (const VaeFlags* flags : {&args.first, &std::as_const(second)}) {
    vae::RunOptions options = run_options(args.common, *flags);
    if (first) options.progress = progress_bar(args.common, "mode " + flags->mode);
    const vae::Decoded d = model.decode(z, group, options);
    if (!first) continue;
    say_all(voice, d.notes);
    Side& side = flags == &args.first ? pair.a : pair.b;
    side = {"mode " + vae::name_of(d.plan.mode), vae::to_pixels(d.sample.cpu()), true};
    add_borders(d.plan, pair.borders);
  }
  return first ? std::optional(std::move(pair)) : std::nullopt;
}

/// The peak of a tensor's signal: NaN and infinity are none.
double largest_finite(const at::Tensor& x) {
  check(x.numel() > 0, "both are empty: ", x.sizes(), "; there is nothing to compare");
  const at::Tensor values =
      at::nan_to_num((x.is_complex() ? at::view_as_real(x) : x).to(at::kDouble), 0, 0, 0);
  const double peak = values.abs().max().item<double>();
  return peak > 0 ? peak : 1;
}

json judge(const CompareArgs& args, const Pair& pair) {
  const bool pixels = pair.a.picture;
  check(pair.a.values.numel() > 0 || pair.b.values.numel() > 0,
        "both are empty: ", pair.a.values.sizes(), "; there is nothing to compare");
  const double peak = pixels ? 255 : largest_finite(pair.a.values);
  const Difference d = compare(pair.a.values, pair.b.values, peak);
  json j{{"a", pair.a.name},
         {"b", pair.b.name},
         {"kind", pixels ? "pictures" : "tensors"},
         {"shape", pair.a.values.sizes().vec()},
         {"largest", figure(d.largest)},
         {"where", d.where},
         {"mean", figure(d.mean)},
         {"rmse", figure(d.rmse)},
         {"psnr", figure(d.psnr)},
         {"unequal", d.unequal},
         {"count", d.count},
         {"non_finite", d.non_finite},
         {"tolerance", args.tolerance},
         {"equal", d.largest <= args.tolerance}};
  if (pixels) j["ssim"] = ssim(pair.a.values, pair.b.values, 255);
  if (!args.seams) return j;
  const auto seam = [&](const Side& s) {
    const double ratio = seam_figure(s.values, pair.borders.rows, pair.borders.cols);
    return std::isfinite(ratio) ? json{{"ratio", ratio}} : json{{"ratio", nullptr}};
  };
  j["seams"] = {{"a", seam(pair.a)},
                {"b", seam(pair.b)},
                {"rows", pair.borders.rows},
                {"columns", pair.borders.cols}};
  return j;
}

/// |a − b| as colours, tile borders marked, and for small figures both pictures beside it.
void draw_difference(const CompareArgs& args, const Pair& pair) {
  check(pair.a.picture, "-o draws a heat map of two pictures; these are tensors");
  const at::Tensor d =
      (pair.a.values.to(at::kFloat) - pair.b.values.to(at::kFloat)).abs().amax({2});
  draw::Canvas canvas(draw::heat_map(d));
  const int64_t h = d.size(0), w = d.size(1);
  if (args.seams) {
    for (const int64_t y : pair.borders.rows) canvas.fill({0, y, w, y + 1}, {255, 255, 255}, 0.35);
    for (const int64_t x : pair.borders.cols) canvas.fill({x, 0, x + 1, h}, {255, 255, 255}, 0.35);
  }
  write_picture(args.out, canvas.pixels());
}

std::string text_of(const json& v, int decimals) {
  return v.is_number() ? number(v.get<double>(), decimals)
         : v.is_null() ? "none"
                       : v.get<std::string>();
}

void print_text(const json& j) {
  const bool pixels = j["kind"] == "pictures";
  const int digits = pixels ? 2 : 8;
  std::cout << j["a"].get<std::string>() << " against " << j["b"].get<std::string>() << ", "
            << j["shape"].dump() << "\n"
            << "largest " << text_of(j["largest"], digits) << (pixels ? " of 255" : "") << " at "
            << j["where"].dump() << ", mean " << text_of(j["mean"], digits + 2) << ", unequal "
            << j["unequal"] << " of " << j["count"] << "\n"
            << "PSNR " << text_of(j["psnr"], 2) << (j["psnr"].is_number() ? " dB" : " (equal)");
  if (pixels) std::cout << ", SSIM " << text_of(j["ssim"], 4);
  std::cout << "\n";
  if (j.contains("seams"))
    std::cout << "seam figure " << text_of(j["seams"]["a"]["ratio"], 3) << " and "
              << text_of(j["seams"]["b"]["ratio"], 3)
              << " (step across tile borders over those beside; 1: none)\n";
  std::cout << (j["equal"] ? "equal" : "unequal") << " within " << j["tolerance"] << std::endl;
}

int report(const CompareArgs& args, const Pair& pair) {
  const json facts = judge(args, pair);
  if (!args.out.empty()) draw_difference(args, pair);
  if (args.common.json)
    std::cout << facts.dump(1) << std::endl;
  else
    print_text(facts);
  return facts["equal"] ? 0 : 1;
}

}  // namespace

int vae_compare(const CompareArgs& args) {
  check(args.tolerance >= 0, "--tolerance ", args.tolerance, "; use 0 (equal) or more");
  if (!args.out.empty()) check_picture_output(args.out, {args.first_input, args.second_input});
  if (!args.settings) return launcher_rank() == 0 ? report(args, two_files(args)) : 0;
  const vae::LoadOptions load{.part = vae::Part::kDecoder,
                              .dtype = dtype_of(args.common.dtype),
                              .device = device_of(args.common.device)};
  Shared<vae::AutoencoderKL> shared(
      [&] { return vae::AutoencoderKL::load(args.first_input, load); });
  int code = 0;
  on_ranks(args.common, [&](Group& group) {
    const auto pair = two_settings(args, shared.get(), group);
    if (pair) code = report(args, *pair);
    group.barrier();
  });
  return code;
}

}  // namespace intarsia::app
