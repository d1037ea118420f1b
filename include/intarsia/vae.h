#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/checkpoint.h>
#include <intarsia/executor.h>
#include <intarsia/plan.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace intarsia::nn {
struct Observer;
}

// AutoencoderKL of diffusers (SD, SDXL, SD3, FLUX, Z-Image, and any other widths): decode and
// encode, whole or in tiles. h, w: latent units; f: pixels per latent unit.
namespace intarsia::vae {

struct KlConfig {
  int64_t in_channels = 3;
  int64_t out_channels = 3;
  int64_t latent_channels = 4;
  std::vector<int64_t> block_out_channels = {128, 256, 512, 512};
  int64_t layers_per_block = 2;
  int64_t norm_num_groups = 32;
  bool mid_block_add_attention = true;
  bool use_quant_conv = true;
  bool use_post_quant_conv = true;
  bool force_upcast = true;
  std::optional<int64_t> sample_size;  ///< tile in pixels; absent: 512, with a note
  double scaling_factor = 0.18215;
  std::optional<double> shift_factor;
  std::vector<double> latents_mean;  ///< empty, or one a latent channel
  std::vector<double> latents_std;

  int64_t ratio() const { return int64_t{1} << (block_out_channels.size() - 1); }  ///< f
};

/// Reads a diffusers config.json. Throws std::invalid_argument naming the key and what is
/// supported.
KlConfig read_kl_config(const std::filesystem::path& config_json);

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

struct Decoded {
  at::Tensor sample;  ///< [B, 3, f·h, f·w], about −1…1, not clamped; see Executed
  RunPlan plan;
  std::vector<RankReport> ranks;
  std::vector<std::string> notes;
};

/// mean and log variance of a normal distribution of latents.
struct Posterior {
  at::Tensor mean;    ///< [B, z, h, w]
  at::Tensor logvar;  ///< clamped to [−30, 20]
};
Posterior posterior(const at::Tensor& moments);
/// mean + exp(logvar/2)·noise, noise from `seed` (float32, the CPU generator).
at::Tensor sample(const Posterior& posterior, uint64_t seed);

struct Encoded {
  at::Tensor moments;  ///< [B, 2z, h, w]: mean, raw log variance; model space
  RunPlan plan;
  std::vector<RankReport> ranks;
  std::vector<std::string> notes;
};

enum class Part { kDecoder, kEncoder, kBoth };

struct LoadOptions {
  Part part = Part::kBoth;  ///< only these weights are read
  /// Arithmetic. float16 becomes float32 on a CPU, and wherever force_upcast asks for it (noted).
  at::ScalarType dtype = at::ScalarType::Float;
  at::Device device = at::Device(at::DeviceType::CPU);
};

class AutoencoderKL {
 public:
  /// path: a diffusers folder (or its parent with vae/), or a single file with LDM, ComfyUI or FLUX
  /// names. Throws std::invalid_argument naming missing, surplus and mis-shaped tensors.
  static AutoencoderKL load(const std::filesystem::path& path, const LoadOptions& options = {});
  static AutoencoderKL load(const Checkpoint& checkpoint, const KlConfig& config,
                            const LoadOptions& options = {});

  const KlConfig& config() const;
  at::ScalarType dtype() const;
  int64_t weight_bytes() const;
  const std::vector<std::string>& notes() const;  ///< what loading decided

  /// z: model-space latents [B, z, h, w], equal on all ranks. Collective.
  Decoded decode(const at::Tensor& z, Group& group, const RunOptions& options = {}) const;
  /// pixels: [B, 3, H, W] in −1…1, equal on all ranks. Collective.
  Encoded encode(const at::Tensor& pixels, Group& group, const RunOptions& options = {}) const;

 private:
  struct Weights;
  AutoencoderKL() = default;
  std::shared_ptr<const Weights> weights_;
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
/// Parameters of the decoder and encoder.
int64_t parameter_count(const KlConfig& config, Part part);

/// How an axis is tiled to decode (latent units → pixels) or encode (pixels → latent units), as
/// diffusers does. Throws std::invalid_argument where that gives a wrong picture (vae.md 1.3.4).
TileRule tile_rule(const KlConfig& config, Direction direction, const TileSettings& settings);

/// How latents in a file are to be understood.
enum class LatentSpace {
  kModel,   ///< what the decoder takes
  kScaled,  ///< pipelines' "latent" output: (z − shift)·scaling, or normalised by mean and std
  kPacked,  ///< FLUX: [B, N, 4z] of 2×2 patches, scaled
};
LatentSpace latent_space_of(const std::string& name);

/// To model space [B, z, h, w]. height, width: pixels, needed for kPacked.
at::Tensor to_model_space(const at::Tensor& latents, LatentSpace space, const KlConfig& config,
                          std::optional<int64_t> height = {}, std::optional<int64_t> width = {});
/// From model space to `space`.
at::Tensor from_model_space(const at::Tensor& z, LatentSpace space, const KlConfig& config);

/// [B, 3, H, W] in −1…1 → RGB [H, W, 3] of picture `index`, as VaeImageProcessor: x/2 + 1/2 clamped
/// to 0…1, ×255 (or 65535 for 16 bits, int32), rounded half to even. exact: the first step in the
/// dtype of x as diffusers does; otherwise in float32.
at::Tensor to_pixels(const at::Tensor& sample, int64_t index = 0, int bits = 8, bool exact = false);
/// RGB [H, W, 3] (uint8, or int32 of `bits`) → [1, 3, H, W] float32 in −1…1.
at::Tensor from_pixels(const at::Tensor& pixels, int bits = 8);

}  // namespace intarsia::vae
