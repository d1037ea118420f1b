#include <intarsia/vae.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aten.h"
#include "check.h"
#include "io/json.h"

namespace intarsia::vae {
namespace {

using io::JsonReader;
using nlohmann::json;

json parse(const std::filesystem::path& path) {
  std::ifstream file(path);
  check(file.good(), "cannot read ", path.string());
  try {
    return json::parse(file);
  } catch (const json::exception& e) {
    check(false, path.string(), " is not JSON: ", e.what());
  }
  return {};
}

void check_class(const JsonReader& r) {
  std::string name = "AutoencoderKL";
  r.read("_class_name", name);
  check(name == "AutoencoderKL", r.file, " describes an ", name, "; supported: AutoencoderKL");
}

void check_blocks(const JsonReader& r, const char* key, const std::string& type) {
  std::vector<std::string> blocks;
  r.read(key, blocks);
  for (const std::string& b : blocks)
    check(b == type, r.file, ": ", key, " has ", b, "; supported: ", type);
}

/// diffusers builds the resnets with act_fn, and always applies SiLU at the end.
void check_activation(const JsonReader& r) {
  std::string name = "silu";
  r.read("act_fn", name);
  check(name == "silu" || name == "swish", r.file, ": act_fn is \"", name, "\"; supported: silu");
}

void check_levels(const JsonReader& r, const char* key, size_t levels) {
  if (!r.has(key)) return;
  check(r.object.at(key).size() == levels, r.file, ": ", key, " has ", r.object.at(key).size(),
        " blocks, block_out_channels ", levels);
}

void read_sample_size(const JsonReader& r, KlConfig& config) {
  if (!r.has("sample_size")) return;
  const json& size = r.object.at("sample_size");
  const json& one = size.is_array() && !size.empty() ? size.front() : size;
  check(one.is_number_integer() && one.get<int64_t>() > 0, r.file, ": sample_size is ", size.dump(),
        "; it is a whole number of pixels");
  config.sample_size = one.get<int64_t>();
}

void check_values(const JsonReader& r, const KlConfig& c) {
  const auto positive = [&](const char* key, int64_t value) {
    check(value > 0 && value <= 1 << 20, r.file, ": ", key, " is ", value,
          "; it must be 1 or more (and below a million)");
  };
  check(!c.block_out_channels.empty() && c.block_out_channels.size() <= 16, r.file,
        ": block_out_channels has ", c.block_out_channels.size(), " levels; 1 to 16 work");
  positive("in_channels", c.in_channels);
  positive("out_channels", c.out_channels);
  positive("latent_channels", c.latent_channels);
  positive("layers_per_block", c.layers_per_block);
  positive("norm_num_groups", c.norm_num_groups);
  for (const int64_t w : c.block_out_channels) {
    positive("block_out_channels", w);
    check(w % c.norm_num_groups == 0, r.file, ": ", w, " channels do not divide into ",
          c.norm_num_groups, " groups (norm_num_groups)");
  }
  check(c.scaling_factor != 0 && std::isfinite(c.scaling_factor), r.file, ": scaling_factor is ",
        c.scaling_factor, "; it must be another number than 0");
  for (const double std : c.latents_std)
    check(std > 0, r.file, ": latents_std has ", std, "; it must be above 0");
  for (const auto* v : {&c.latents_mean, &c.latents_std})
    check(v->empty() || int64_t(v->size()) == c.latent_channels, r.file, ": ", v->size(),
          " latents_mean/latents_std values for ", c.latent_channels, " latent channels");
  check(c.latents_mean.empty() == c.latents_std.empty(), r.file,
        ": latents_mean and latents_std come together or not at all");
}

}  // namespace

KlConfig read_kl_config(const std::filesystem::path& config_json) {
  const json object = parse(config_json);
  check(object.is_object(), config_json.string(), " is not a JSON object");
  const JsonReader r{config_json.string(), object};
  check_class(r);
  check_blocks(r, "down_block_types", "DownEncoderBlock2D");
  check_blocks(r, "up_block_types", "UpDecoderBlock2D");
  check_activation(r);
  KlConfig c;
  // diffusers' defaults where a key is absent.
  c.block_out_channels = {64};
  c.layers_per_block = 1;
  r.read("block_out_channels", c.block_out_channels);
  r.read("layers_per_block", c.layers_per_block);
  r.read("in_channels", c.in_channels);
  r.read("out_channels", c.out_channels);
  r.read("latent_channels", c.latent_channels);
  r.read("norm_num_groups", c.norm_num_groups);
  r.read("mid_block_add_attention", c.mid_block_add_attention);
  r.read("use_quant_conv", c.use_quant_conv);
  r.read("use_post_quant_conv", c.use_post_quant_conv);
  r.read("force_upcast", c.force_upcast);
  r.read("scaling_factor", c.scaling_factor);
  if (r.has("shift_factor")) r.read("shift_factor", c.shift_factor.emplace());
  r.read("latents_mean", c.latents_mean);
  r.read("latents_std", c.latents_std);
  read_sample_size(r, c);
  check_values(r, c);
  check_levels(r, "down_block_types", c.block_out_channels.size());
  check_levels(r, "up_block_types", c.block_out_channels.size());
  return c;
}

}  // namespace intarsia::vae
