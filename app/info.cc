#include <intarsia/checkpoint.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/vae_common.h"
#include "aten.h"
#include "group/header.h"

namespace intarsia::app {
namespace {

using nlohmann::json;

std::string class_of(const Checkpoint& checkpoint) {
  if (checkpoint.config_path().empty()) return "";
  try {
    std::ifstream in(checkpoint.config_path());
    const json config = json::parse(in);
    if (config.contains("_class_name")) return config.at("_class_name").get<std::string>();
    if (config.contains("architectures"))
      return config.at("architectures").at(0).get<std::string>();
  } catch (const json::exception&) {
  }
  return "";
}

/// What the checkpoint holds, by dtype.
json contents(const Checkpoint& checkpoint) {
  int64_t parameters = 0;
  std::map<std::string, int64_t> dtypes;
  for (const std::string& name : checkpoint.names()) {
    const TensorInfo& t = checkpoint.info(name);
    const int64_t count = c10::multiply_integers(t.shape);
    parameters += count;
    dtypes[dtype_name(t.dtype)] += count;
  }
  return {{"path", checkpoint.path().string()},
          {"tensors", checkpoint.names().size()},
          {"parameters", parameters},
          {"bytes", checkpoint.bytes()},
          {"stored", dtypes},
          {"class", class_of(checkpoint)},
          {"metadata", checkpoint.metadata()}};
}

json kl_facts(const vae::AutoencoderKL& model) {
  const vae::KlConfig& c = model.config();
  json j{{"latent_channels", c.latent_channels},
         {"pixels_per_latent", c.ratio()},
         {"block_out_channels", c.block_out_channels},
         {"layers_per_block", c.layers_per_block},
         {"norm_num_groups", c.norm_num_groups},
         {"attention", c.mid_block_add_attention},
         {"quant_conv", c.use_quant_conv},
         {"post_quant_conv", c.use_post_quant_conv},
         {"scaling_factor", c.scaling_factor},
         {"force_upcast", c.force_upcast},
         {"notes", model.notes()}};
  if (c.shift_factor) j["shift_factor"] = *c.shift_factor;
  if (c.sample_size) j["tile_pixels"] = *c.sample_size;
  return j;
}

void print(const json& facts) {
  for (const auto& [key, value] : facts.items()) {
    if (value.is_string() && value.get<std::string>().empty()) continue;
    if ((value.is_object() || value.is_array()) && value.empty()) continue;
    std::cout << key << std::string(key.size() < 20 ? 20 - key.size() : 1, ' ')
              << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
  }
}

}  // namespace

int info(const InfoArgs& args) {
  const Checkpoint checkpoint = Checkpoint::open(args.model);
  json facts = contents(checkpoint);
  try {
    const auto model = vae::AutoencoderKL::load(args.model);
    facts["runs_as"] = "vae: AutoencoderKL, " + dtype_name(model.dtype()) + " arithmetic";
    facts.update(kl_facts(model));
  } catch (const std::invalid_argument& e) {
    facts["runs_as"] = std::string("not supported: ") + e.what();
  }
  if (args.tensors)
    for (const std::string& name : checkpoint.names())
      facts["names"][name] = c10::str(dtype_name(checkpoint.info(name).dtype), " ",
                                      at::IntArrayRef(checkpoint.info(name).shape));
  if (args.common.json) {
    std::cout << facts.dump(1) << "\n";
    return 0;
  }
  json names = facts.contains("names") ? facts["names"] : json();
  facts.erase("names");
  print(facts);
  if (!names.is_null()) print(names);
  return 0;
}

}  // namespace intarsia::app
