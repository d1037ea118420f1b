// Does a run keep the memory budget it was given? Decodes at SD's real widths with seeded random
// weights, one process a line (peaks do not come down again), and prints predicted against measured
// peak resident memory, and time. usage: vae_memory H W MODE BUDGET_MIB RANKS
#include <intarsia/launch.h>
#include <intarsia/tensor_file.h>
#include <intarsia/vae.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "aten.h"
#include "group/memory.h"
#include "vae/kl_model.h"

using namespace intarsia;

namespace {

/// Seeded random weights of the right scale, kept as a checkpoint on disk.
struct Writer : vae::WeightSource {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  at::Generator generator = at::detail::createCPUGenerator(1);
  at::Tensor take(const std::string& name, std::vector<int64_t> shape) override {
    const bool norm = name.find("norm") != std::string::npos;
    int64_t fan = 1;
    for (size_t i = 1; i < shape.size(); ++i) fan *= shape[i];
    at::Tensor t = at::randn(shape, generator) / std::sqrt(double(fan));
    if (shape.size() == 1)
      t = name.ends_with("weight") && norm ? at::ones(shape) : at::zeros(shape);
    tensors.emplace_back(name, t.to(at::kHalf));
    return t;
  }
};

std::filesystem::path random_model(const vae::KlConfig& config) {
  const auto path = std::filesystem::temp_directory_path() / "intarsia-bench-sd.safetensors";
  if (!std::filesystem::exists(path)) {
    Writer writer;
    vae::build_decoder(config, writer);
    write_safetensors(path, writer.tensors);
  }
  return path;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) {
    std::cerr << "usage: vae_memory H W MODE BUDGET_MIB RANKS (H, W: latent units of 8 pixels)\n";
    return 2;
  }
  vae::KlConfig config;
  config.sample_size = 512;
  const int64_t h = std::atoll(argv[1]), w = std::atoll(argv[2]);
  const vae::RunOptions options{.mode = vae::mode_of(argv[3]), .memory = std::atoll(argv[4]) << 20};
  const auto model = vae::AutoencoderKL::load(Checkpoint::open(random_model(config)), config,
                                              {.part = vae::Part::kDecoder});
  const at::Tensor z = at::randn({1, 4, h, w}, at::detail::createCPUGenerator(2));
  launch::run(std::atoi(argv[5]), [&](Group& group) {
    const auto start = std::chrono::steady_clock::now();
    const auto out = model.decode(z, group, options);
    if (group.rank() != 0) return;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("| %ldx%ld | %s | %d | %ld | %s | %ld | %ld | %ld | %s | %.1f |\n", 8 * w, 8 * h,
                argv[3], group.size(), options.memory >> 20, vae::name_of(out.plan.mode).c_str(),
                long(out.plan.workloads.size()), out.plan.peak_bytes >> 20, peak_memory() >> 20,
                peak_memory() <= options.memory ? "yes" : "NO", spent.count());
  });
  return 0;
} catch (const std::exception& e) {
  std::cerr << "vae_memory: " << e.what() << "\n";
  return 1;
}
