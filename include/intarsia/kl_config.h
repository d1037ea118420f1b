#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace intarsia::vae {

/// What a config.json of an AutoencoderKL says.
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
/// The config of a model: a config.json, a diffusers folder (or its parent with vae/), or, read off
/// the headers of its tensors, a file of weights. Notes tell what was assumed.
KlConfig find_kl_config(const std::filesystem::path& model,
                        std::vector<std::string>* notes = nullptr);

enum class Part { kDecoder, kEncoder, kBoth };

/// Parameters of the decoder and encoder.
int64_t parameter_count(const KlConfig& config, Part part);

}  // namespace intarsia::vae
