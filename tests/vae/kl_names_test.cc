#include "vae/kl_names.h"

#include <intarsia/tensor_file.h>
#include <intarsia/vae.h>

#include "support/tensors.h"

namespace intarsia::vae {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

const std::filesystem::path kData = std::filesystem::path(INTARSIA_TEST_DATA) / "vae";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// diffusers' name → the name in LDM's single files, for a model of `levels` levels.
std::string ldm_name(std::string name, int levels) {
  for (int i = 0; i < levels; ++i) {
    const std::string n = std::to_string(i), m = std::to_string(levels - 1 - i);
    name = replaced(name, "down_blocks." + n + ".resnets.", "down." + n + ".block.");
    name = replaced(name, "down_blocks." + n + ".downsamplers.0.", "down." + n + ".downsample.");
    name = replaced(name, "up_blocks." + n + ".resnets.", "up." + m + ".block.");
    name = replaced(name, "up_blocks." + n + ".upsamplers.0.", "up." + m + ".upsample.");
  }
  for (const auto& [from, to] : {std::pair{"mid_block.resnets.0.", "mid.block_1."},
                                 {"mid_block.resnets.1.", "mid.block_2."},
                                 {"mid_block.attentions.0.group_norm", "mid.attn_1.norm"},
                                 {"mid_block.attentions.0.to_q", "mid.attn_1.q"},
                                 {"mid_block.attentions.0.to_k", "mid.attn_1.k"},
                                 {"mid_block.attentions.0.to_v", "mid.attn_1.v"},
                                 {"mid_block.attentions.0.to_out.0", "mid.attn_1.proj_out"},
                                 {"conv_shortcut", "nin_shortcut"},
                                 {"conv_norm_out", "norm_out"}})
    name = replaced(name, from, to);
  return name;
}

bool is_attention_weight(const std::string& name) {
  return name.find("attentions") != std::string::npos && name.ends_with("weight") &&
         name.find("norm") == std::string::npos;
}

struct Layout {
  const char* name;
  const char* prefix;
  bool strangers;  ///< tensors of other parts of a whole checkpoint
};

class SingleFile : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(, SingleFile,
                         testing::Values(Layout{"flux", "", false}, Layout{"comfy", "vae.", false},
                                         Layout{"ldm", "first_stage_model.", true}),
                         [](const auto& layout) { return std::string(layout.param.name); });

TEST_P(SingleFile, DecodesAndEncodesAsItsDiffusersFolder) {
  const test::TemporaryFolder folder;
  const auto stored = read_tensors(kData / "kl_flux" / "diffusion_pytorch_model.safetensors");
  const auto whole = AutoencoderKL::load(kData / "kl_flux");
  const int levels = int(whole.config().block_out_channels.size());
  std::vector<std::pair<std::string, at::Tensor>> renamed;
  for (const auto& [name, tensor] : stored) {
    const bool as_convolution = is_attention_weight(name);
    renamed.emplace_back(GetParam().prefix + ldm_name(name, levels),
                         as_convolution ? tensor.unsqueeze(-1).unsqueeze(-1) : tensor);
  }
  if (GetParam().strangers) {
    renamed.emplace_back("model.diffusion_model.input_blocks.0.0.weight", at::zeros({2, 2}));
    renamed.emplace_back("model_ema.decay", at::zeros({1}));
  }
  const auto file = folder.path / "model.safetensors";
  write_safetensors(file, renamed);

  const auto inferred = find_kl_config(file);
  EXPECT_EQ(inferred.block_out_channels, whole.config().block_out_channels);
  EXPECT_EQ(inferred.layers_per_block, whole.config().layers_per_block);
  EXPECT_EQ(inferred.latent_channels, whole.config().latent_channels);
  EXPECT_EQ(inferred.use_quant_conv, whole.config().use_quant_conv);
  KlConfig config = whole.config();  // norm_num_groups is not to be seen in any tensor
  const Checkpoint checkpoint = Checkpoint::open(file);
  const auto model =
      AutoencoderKL::load(checkpoint.renamed(kl_rename(checkpoint.names(), true)), config);
  Group solo = Group::solo();
  const RunOptions options{.mode = Mode::kNone, .threads = 1};
  const at::Tensor z = test::randn({1, config.latent_channels, 5, 6});
  EXPECT_TENSOR_EQ(model.decode(z, solo, options).sample, whole.decode(z, solo, options).sample);
  const at::Tensor x = test::randn({1, 3, 32, 40});
  EXPECT_TENSOR_EQ(model.encode(x, solo, options).moments, whole.encode(x, solo, options).moments);
}

TEST(OldNames, QueryKeyValueAndProjAttnOfAnyShapeAreTheNewOnes) {
  const test::TemporaryFolder folder;
  std::vector<std::pair<std::string, at::Tensor>> renamed;
  for (auto [stored, tensor] :
       read_tensors(kData / "kl_sd" / "diffusion_pytorch_model.safetensors")) {
    std::string name = stored;
    if (is_attention_weight(name))
      tensor = name.find("to_q") != std::string::npos ? tensor.unsqueeze(-1).unsqueeze(-1)
                                                      : tensor.unsqueeze(-1);
    for (const auto& [now, then] : {std::pair{"to_q", "query"},
                                    {"to_k", "key"},
                                    {"to_v", "value"},
                                    {"to_out.0", "proj_attn"}})
      name = replaced(name, now, then);
    renamed.emplace_back(name, tensor);
  }
  write_safetensors(folder.path / "diffusion_pytorch_model.safetensors", renamed);
  std::filesystem::copy_file(kData / "kl_sd" / "config.json", folder.path / "config.json");
  const auto model = AutoencoderKL::load(folder.path), now = AutoencoderKL::load(kData / "kl_sd");
  Group solo = Group::solo();
  const at::Tensor z = test::randn({1, 4, 5, 6});
  EXPECT_TENSOR_EQ(model.decode(z, solo, {.mode = Mode::kNone, .threads = 1}).sample,
                   now.decode(z, solo, {.mode = Mode::kNone, .threads = 1}).sample);
}

TEST(FindKlConfig, TakesAFolderItsParentAConfigAndRefusesTheRest) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "pipeline" / "vae");
  std::filesystem::copy_file(kData / "kl_sd" / "config.json",
                             folder.path / "pipeline" / "vae" / "config.json");
  EXPECT_EQ(find_kl_config(folder.path / "pipeline").latent_channels, 4);
  EXPECT_EQ(find_kl_config(folder.path / "pipeline" / "vae").latent_channels, 4);
  EXPECT_EQ(find_kl_config(kData / "kl_sd" / "config.json").latent_channels, 4);
  EXPECT_EQ(find_kl_config(kData / "kl_sd" / "diffusion_pytorch_model.safetensors").latent_channels,
            4);
  EXPECT_REFUSED(find_kl_config(folder.path / "nothing"), "nothing");
  EXPECT_REFUSED(find_kl_config(folder.path), folder.path.string());
}

TEST(KlShape, NoOrAnUnevenAutoencoderIsRefused) {
  EXPECT_REFUSED(infer_kl_shape({{"text_model.weight", {2, 2}}}), "no AutoencoderKL");
  EXPECT_REFUSED(infer_kl_shape({{"decoder.up_blocks.0.resnets.0.conv1.weight", {8, 8, 3, 3}}}),
                 "no AutoencoderKL");
}

}  // namespace
}  // namespace intarsia::vae
