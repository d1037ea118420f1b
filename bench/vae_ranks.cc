// How the time of a tiled decode depends on the ranks: the settings run in turn in one process, so
// that what disturbs one disturbs all. Prints a Markdown table with ratios to the first row.
// usage: vae_ranks MODEL LATENT [ROUNDS]
#include <intarsia/launch.h>
#include <intarsia/tensor_file.h>
#include <intarsia/vae.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "aten.h"

using namespace intarsia;

namespace {

struct Setting {
  const char* name;
  int ranks;
  vae::Mode mode;
  int threads_per_tile;
  std::vector<double> seconds = {};
};

double decode_once(const vae::AutoencoderKL& model, const at::Tensor& z, const Setting& s) {
  const auto start = std::chrono::steady_clock::now();
  launch::run(s.ranks, [&](Group& group) {
    model.decode(z, group, {.mode = s.mode, .threads_per_tile = s.threads_per_tile});
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(std::vector<Setting>& settings) {
  std::printf("| setting | least s | median s | median against the first |\n|---|---|---|---|\n");
  double first = 0;
  for (Setting& s : settings) {
    std::sort(s.seconds.begin(), s.seconds.end());
    const double median = s.seconds[s.seconds.size() / 2];
    if (first == 0) first = median;
    std::printf("| %s | %.2f | %.2f | %.3f |\n", s.name, s.seconds.front(), median, median / first);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: vae_ranks MODEL LATENT [ROUNDS]\n";
    return 2;
  }
  const auto model = vae::AutoencoderKL::load(argv[1], {.part = vae::Part::kDecoder});
  const at::Tensor z = read_tensor(argv[2]).tensor.to(at::kFloat);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  std::vector<Setting> settings{{"1 rank, all threads, a tile each", 1, vae::Mode::kTile, 1},
                                {"2 ranks", 2, vae::Mode::kTile, 1},
                                {"4 ranks", 4, vae::Mode::kTile, 1},
                                {"8 ranks", 8, vae::Mode::kTile, 1},
                                {"1 rank, 2 threads a tile", 1, vae::Mode::kTile, 2},
                                {"whole", 1, vae::Mode::kNone, 1}};
  for (int round = -1; round < rounds; ++round)  // the first warms up
    for (Setting& s : settings) {
      const double seconds = decode_once(model, z, s);
      if (round >= 0) s.seconds.push_back(seconds);
    }
  print(settings);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "vae_ranks: " << e.what() << "\n";
  return 1;
}
