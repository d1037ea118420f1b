#include <intarsia/tensor_file.h>

#include <iostream>

#include "app/vae_common.h"
#include "aten.h"

namespace intarsia::app {
namespace {

using nlohmann::json;

void write_latents(const EncodeArgs& args, const std::filesystem::path& path, const at::Tensor& x,
                   const std::string& source) {
  if (path.extension() == ".npy") return write_npy(path, x);
  write_safetensors(path, {{"latents", x}},
                    {{"source", source}, {"model", args.model}, {"space", args.space}});
}

}  // namespace

int vae_encode(const EncodeArgs& args) {
  const Outputs outputs =
      outputs_for(args.out, args.pictures, {".safetensors", ".npy"}, ".safetensors", args.model);
  const vae::LatentSpace space = vae::latent_space_of(args.space);
  const vae::RunOptions options = run_options(args.common, args.vae);
  const vae::LoadOptions load{.part = vae::Part::kEncoder,
                              .dtype = dtype_of(args.common.dtype),
                              .device = device_of(args.common.device)};
  Shared<vae::AutoencoderKL> shared([&] { return vae::AutoencoderKL::load(args.model, load); });
  json results = json::array();
  on_ranks(args.common, [&](Group& group) {
    const bool first = group.rank() == 0;
    const Common voice = first ? args.common : Common{.quiet = true};
    const vae::AutoencoderKL& model = shared.get();
    for (const std::string& file : args.pictures) {
      const at::Tensor x =
          load_pixels(voice, file, args.fit, model.config().ratio(), args.max_pixels);
      const Stopwatch watch;
      vae::RunOptions mine = options;
      if (first) mine.progress = progress_bar(args.common, std::filesystem::path(file).filename());
      const vae::Encoded encoded = model.encode(x, group, mine);
      if (!first) continue;
      say_all(args.common, encoded.notes);
      say_why(args.common, options.mode, encoded.plan);
      const vae::Posterior p = vae::posterior(encoded.moments.cpu());
      const at::Tensor z = args.sample ? vae::sample(p, *args.sample) : p.mean;
      const at::Tensor latents = vae::from_model_space(z, space, model.config());
      make_folder(outputs);
      const auto path = output_for(outputs, file, 0, 1);
      write_latents(args, path, latents, std::filesystem::path(file).filename());
      json j = plan_json(encoded.plan);
      j.update({{"input", file},
                {"file", path.string()},
                {"shape", latents.sizes().vec()},
                {"seconds", watch.seconds()},
                {"ranks", ranks_json(encoded.ranks)},
                {"peak_bytes", peak_of(encoded.ranks)},
                {"notes", encoded.notes}});
      results.push_back(j);
      if (args.common.json) continue;
      std::cout << path.string() << ": " << latents.sizes() << ", "
                << summary(encoded.plan, encoded.ranks, watch.seconds()) << "\n";
      if (args.vae.timings) std::cout << timings(encoded.ranks);
    }
    group.barrier();
    if (first && args.common.json) std::cout << results.dump(1) << std::endl;
  });
  return 0;
}

}  // namespace intarsia::app
