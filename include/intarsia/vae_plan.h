#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/kl_config.h>
#include <intarsia/plan.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace intarsia::nn {
struct Observer;
}

// How a VAE is run: whole, in tiles or in patches, on which ranks, in how much memory.
namespace intarsia::vae {

enum class Mode {
  kAuto,   ///< whole if it fits the memory, else tiles that fit
  kNone,   ///< whole, on rank 0 (a batch: picture by picture over the ranks)
  kTile,   ///< overlapping tiles, blended as diffusers does
  kPatch,  ///< few pieces with a halo, not blended: for pictures no larger than a tile
};
std::string name_of(Mode mode);
Mode mode_of(const std::string& name);

struct TileSettings {
  std::optional<int64_t> tile;  ///< pixels; absent: the model's sample_size
  double overlap = 0.25;        ///< share of a tile, 0 ≤ overlap < 1
};

struct RunOptions {
  Mode mode = Mode::kAuto;
  TileSettings tiles;
  int64_t parts = 0;       ///< ranks that get work; 0: all
  bool broadcast = false;  ///< the result on every rank, not only on rank 0
  /// Bytes this process may hold at its peak, everything included. 0: what the machine has free.
  int64_t memory = 0;
  int threads = 0;  ///< compute threads of this host, shared by its ranks; 0: all cores
  int threads_per_tile =
      1;  ///< part of the plan: other counts give other bits (not other pictures)
  std::function<void(int64_t done, int64_t total)> progress;
  nn::Observer* observer = nullptr;  ///< sees named activations (serial runs only)
};

/// What will be done, and why: plain numbers, from sizes alone.
struct RunPlan {
  Mode mode = Mode::kNone;
  std::string why;
  TileGrid grid;                             ///< kTile
  PatchGrid patches;                         ///< kPatch
  std::vector<std::vector<int64_t>> owners;  ///< task ids a rank
  std::vector<double> workloads;             ///< input area of each task
  int workers = 1;                           ///< tiles at once in each rank
  int threads_per_task = 1;
  int64_t out_height = 0, out_width = 0;  ///< pixels (decode) or latent units (encode)
  double arithmetic = 1;                  ///< work against doing it whole
  int64_t peak_bytes = 0;                 ///< predicted peak of the process, weights included
  int64_t task_bytes = 0;                 ///< predicted peak of the activations of the largest task
  std::vector<std::string> notes;         ///< what was decided differently than asked
};

enum class Direction { kDecode, kEncode };

/// What a plan depends on besides the options; equal on all ranks.
struct RunInput {
  Direction direction = Direction::kDecode;
  int64_t batch = 1;
  int64_t height = 0;  ///< of the input: latent units to decode, pixels to encode
  int64_t width = 0;
  at::ScalarType dtype = at::ScalarType::Float;  ///< of the arithmetic
  int ranks = 1;                                 ///< of the group
  int local_ranks = 1;                           ///< of them on one host
  int process_ranks = 1;                         ///< of them in one process
  int64_t baseline = 0;  ///< bytes the process holds before (libraries, weights); 0: estimated
};

/// The plan that decode or encode would follow, without weights. Throws std::invalid_argument for
/// settings that go wrong, with the nearest that work, and where no mode fits options.memory.
RunPlan plan_run(const KlConfig& config, const RunInput& input, const RunOptions& options);

/// Bytes that decoding or encoding one picture of this size holds at its peak, without weights.
int64_t activation_bytes(const KlConfig& config, Direction direction, int64_t height, int64_t width,
                         at::ScalarType dtype);

/// How an axis is tiled to decode (latent units → pixels) or encode (pixels → latent units), as
/// diffusers does. Throws std::invalid_argument where that gives a wrong picture (vae.md 1.3.4).
TileRule tile_rule(const KlConfig& config, Direction direction, const TileSettings& settings);

}  // namespace intarsia::vae
