#include <intarsia/compare.h>
#include <intarsia/draw.h>
#include <intarsia/picture.h>

#include <cmath>
#include <iostream>

#include "app/vae_common.h"
#include "aten.h"

namespace intarsia::app {
namespace {

using nlohmann::json;

json judge(const std::string& file, const std::filesystem::path& out, const at::Tensor& before,
           const at::Tensor& after) {
  const Difference d = compare(after, before, 255);
  return {{"input", file},           {"file", out.string()},
          {"psnr", figure(d.psnr)},  {"ssim", ssim(after, before, 255)},
          {"largest", d.largest},    {"mean", d.mean},
          {"width", before.size(1)}, {"height", before.size(0)}};
}

std::string decibels(const json& psnr) {
  return psnr.is_number() ? number(psnr.get<double>(), 2) + " dB" : "infinite (equal)";
}

}  // namespace

int vae_roundtrip(const RoundtripArgs& args) {
  const EncodeArgs& e = args.encode;
  const Outputs outputs =
      outputs_for(e.out, e.pictures, {".png", ".jpg", ".jpeg"}, ".png", e.model);
  const vae::RunOptions options = run_options(e.common, e.vae);
  const vae::LoadOptions load{.dtype = dtype_of(e.common.dtype),
                              .device = device_of(e.common.device)};
  Shared<vae::AutoencoderKL> shared([&] { return vae::AutoencoderKL::load(e.model, load); });
  json results = json::array();
  on_ranks(e.common, [&](Group& group) {
    const bool first = group.rank() == 0;
    const Common voice = first ? e.common : Common{.quiet = true};
    const vae::AutoencoderKL& model = shared.get();
    for (const std::string& file : e.pictures) {
      const at::Tensor x = load_pixels(voice, file, e.fit, model.config().ratio(), e.max_pixels);
      const Stopwatch watch;
      vae::RunOptions mine = options;
      if (first) mine.progress = progress_bar(e.common, std::filesystem::path(file).filename());
      mine.broadcast = true;  // the latents, which all ranks decode
      const vae::Encoded encoded = model.encode(x, group, mine);
      const vae::Posterior p = vae::posterior(encoded.moments);
      mine.broadcast = false;
      const vae::Decoded decoded =
          model.decode(e.sample ? vae::sample(p, *e.sample) : p.mean, group, mine);
      if (!first) continue;
      say_all(voice, decoded.notes);
      const at::Tensor before = vae::to_pixels(x), after = vae::to_pixels(decoded.sample.cpu());
      make_folder(outputs);
      const auto out = output_for(outputs, file, 0, 1);
      json j = judge(file, out, before, after);
      write_picture(out,
                    draw::beside({before, after}, {"before", "after: " + decibels(j["psnr"])}));
      j["seconds"] = watch.seconds();
      j["mode"] = vae::name_of(decoded.plan.mode);
      results.push_back(j);
      if (e.common.json) continue;
      std::cout << out.string() << ": PSNR " << decibels(j["psnr"]) << ", SSIM "
                << number(j["ssim"], 4) << ", "
                << summary(decoded.plan, decoded.ranks, watch.seconds()) << "\n";
      if (e.vae.timings) std::cout << timings(encoded.ranks) << timings(decoded.ranks);
    }
    group.barrier();
    if (first && e.common.json) std::cout << results.dump(1) << std::endl;
  });
  return 0;
}

}  // namespace intarsia::app
