#include <intarsia/tensor_file.h>

#include <iostream>

#include "app/vae_common.h"
#include "aten.h"

namespace intarsia::app {
namespace {

using nlohmann::json;

bool is_tensor(const std::filesystem::path& path) {
  return path.extension() == ".safetensors" || path.extension() == ".npy";
}

void write_sample(const DecodeArgs& args, const std::filesystem::path& path,
                  const at::Tensor& sample, int64_t index) {
  if (path.extension() == ".npy") return write_npy(path, sample);
  if (path.extension() == ".safetensors") return write_safetensors(path, {{"sample", sample}});
  write_picture(path, vae::to_pixels(sample.cpu(), index, args.bits, args.exact),
                {.jpeg_quality = args.jpeg_quality, .bits = args.bits});
}

/// Rank 0 writes the pictures of one latent file and says so.
json write_outputs(const DecodeArgs& args, const Outputs& outputs, const std::string& input,
                   const vae::Decoded& decoded, double seconds) {
  const int64_t count = is_tensor(outputs.path) ? 1 : decoded.sample.size(0);
  json files = json::array();
  make_folder(outputs);
  for (int64_t i = 0; i < count; ++i) {
    const auto path = output_for(outputs, input, i, count);
    write_sample(args, path, decoded.sample, i);
    files.push_back(path.string());
    if (!args.common.json)
      std::cout << path.string() << ": " << decoded.sample.size(3) << "x" << decoded.sample.size(2)
                << ", " << summary(decoded.plan, decoded.ranks, seconds) << "\n";
  }
  if (!args.common.json && args.vae.timings) std::cout << timings(decoded.ranks);
  std::cout << std::flush;
  json j = plan_json(decoded.plan);
  j["input"] = input;
  j["files"] = files;
  j["width"] = decoded.sample.size(3);
  j["height"] = decoded.sample.size(2);
  j["seconds"] = seconds;
  j["ranks"] = ranks_json(decoded.ranks);
  j["peak_bytes"] = peak_of(decoded.ranks);
  j["notes"] = decoded.notes;
  return j;
}

}  // namespace

int vae_decode(const DecodeArgs& args) {
  const Outputs outputs =
      outputs_for(args.out, args.latents, {".png", ".jpg", ".jpeg", ".safetensors", ".npy"}, ".png",
                  args.model);
  vae::RunOptions options = run_options(args.common, args.vae);
  const vae::LoadOptions load{.part = vae::Part::kDecoder,
                              .dtype = dtype_of(args.common.dtype),
                              .device = device_of(args.common.device)};
  Shared<vae::AutoencoderKL> shared([&] { return vae::AutoencoderKL::load(args.model, load); });
  json results = json::array();
  on_ranks(args.common, [&](Group& group) {
    const bool first = group.rank() == 0;
    const vae::AutoencoderKL& model = shared.get();
    for (const std::string& file : args.latents) {
      const at::Tensor z =
          load_latents(first ? args.common : Common{.quiet = true}, file, args.tensor, args.space,
                       model.config(), args.height, args.width);
      const Stopwatch watch;
      vae::RunOptions mine = options;
      if (first) mine.progress = progress_bar(args.common, std::filesystem::path(file).filename());
      const vae::Decoded decoded = model.decode(z, group, mine);
      if (!first) continue;
      say_all(args.common, decoded.notes);
      say_why(args.common, options.mode, decoded.plan);
      results.push_back(write_outputs(args, outputs, file, decoded, watch.seconds()));
    }
    group.barrier();  // nobody leaves before the last picture is written
    if (first && args.common.json) std::cout << results.dump(1) << std::endl;
  });
  return 0;
}

}  // namespace intarsia::app
