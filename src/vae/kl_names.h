#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace intarsia {

/// Stored name → diffusers' name of an AutoencoderKL, for each of `names`. Known are diffusers'
/// names, its old attention names (query, key, value, proj_attn), and the single files of LDM,
/// ComfyUI and FLUX (encoder.down.0.block.0 …) with the prefix `first_stage_model.`, `vae.` or
/// none. Tensors of a whole checkpoint that are not the VAE's: "" if drop_rest, else their own
/// name.
std::map<std::string, std::string> kl_rename(const std::vector<std::string>& names, bool drop_rest);

/// What an AutoencoderKL's tensors say of its config.
struct KlShape {
  std::vector<int64_t> block_out_channels;
  int64_t layers_per_block = 0;
  int64_t latent_channels = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  bool quant_conv = false;
  bool post_quant_conv = false;
  bool mid_attention = false;
  int64_t norm_num_groups = 32;  ///< a guess: the largest of 32, 16, … 1 that divides every width
};

/// shapes: diffusers' name → shape (as after kl_rename). A file with only one of encoder and
/// decoder will do. Throws std::invalid_argument if it is no AutoencoderKL, naming what is missing
/// or uneven.
KlShape infer_kl_shape(const std::map<std::string, std::vector<int64_t>>& shapes);

/// The weight of an attention's linear layer as [out, in]: single files keep it as a convolution's
/// [out, in, 1] or [out, in, 1, 1]. name: for the message of the std::invalid_argument.
at::Tensor as_linear_weight(const at::Tensor& weight, const std::string& name);

}  // namespace intarsia
