#include <intarsia/tensor_file.h>
#include <intarsia/vae.h>

#include <fstream>

#include "support/ranks.h"
#include "support/tensors.h"

namespace intarsia::vae {
namespace {

const std::filesystem::path kData = std::filesystem::path(INTARSIA_TEST_DATA) / "vae";

const AutoencoderKL& kl_sd() {
  static const AutoencoderKL model = AutoencoderKL::load(kData / "kl_sd");
  return model;
}

at::Tensor latents(int64_t b, int64_t h, int64_t w) { return test::randn({b, 4, h, w}, 7); }

/// What one rank gives, for comparison bit for bit.
template <typename F>
at::Tensor alone(F f) {
  at::Tensor result;
  test::run_ranks(1, [&](Group& g) { result = f(g); });
  return result;
}

class VaeRanks : public test::Ranks {};
INTARSIA_RANKS(VaeRanks);

TEST_P(VaeRanks, TiledDecodeIsBitIdenticalToOneRank) {
  for (const auto& [b, h, w] : {std::tuple{1, 9, 13}, {2, 17, 9}, {1, 3, 30}}) {
    const at::Tensor z = latents(b, h, w);
    const auto decode = [&](Group& g) {
      return kl_sd().decode(z, g, {.mode = Mode::kTile, .broadcast = true}).sample;
    };
    const at::Tensor one = alone(decode);
    test::run_ranks(GetParam(), [&](Group& g) { EXPECT_TENSOR_EQ(decode(g), one); });
  }
}

TEST_P(VaeRanks, TiledEncodeIsBitIdenticalToOneRank) {
  const at::Tensor x = test::randn({1, 3, 52, 72}, 8).clamp(-1, 1);
  const auto encode = [&](Group& g) {
    return kl_sd().encode(x, g, {.mode = Mode::kTile, .broadcast = true}).moments;
  };
  const at::Tensor one = alone(encode);
  test::run_ranks(GetParam(), [&](Group& g) { EXPECT_TENSOR_EQ(encode(g), one); });
}

TEST_P(VaeRanks, ABatchDecodedWholeIsEachPictureAlone) {
  const at::Tensor z = latents(3, 6, 5);
  test::run_ranks(GetParam(), [&](Group& g) {
    const auto all =
        kl_sd().decode(z, g, {.mode = Mode::kNone, .broadcast = true, .threads = 1}).sample;
    for (int64_t i = 0; i < 3; ++i) {
      const auto one = kl_sd().decode(z.narrow(0, i, 1), g,
                                      {.mode = Mode::kNone, .broadcast = true, .threads = 1});
      EXPECT_TENSOR_EQ(all.narrow(0, i, 1), one.sample);
    }
  });
}

TEST_P(VaeRanks, PatchesAreCloseToTheWhole) {
  const at::Tensor z = latents(1, 8, 8);
  const at::Tensor whole =
      alone([&](Group& g) { return kl_sd().decode(z, g, {.mode = Mode::kNone}).sample; });
  test::run_ranks(GetParam(), [&](Group& g) {
    const Decoded d = kl_sd().decode(z, g, {.mode = Mode::kPatch, .broadcast = true});
    EXPECT_EQ(d.sample.sizes(), whole.sizes());
    EXPECT_TRUE(at::isfinite(d.sample).all().item<bool>());
    if (g.size() == 1) {
      EXPECT_LT(test::max_difference(d.sample, whole), 1e-4);
    }
  });
}

TEST(AutoencoderKL, EveryLayerOfRoundingIsFarBelowOnePixelValueInBfloat16) {
  const at::Tensor z = latents(1, 6, 5);
  const auto half =
      AutoencoderKL::load(kData / "kl_sd", {.part = Part::kDecoder, .dtype = at::kBFloat16});
  Group solo = Group::solo();
  const at::Tensor want = kl_sd().decode(z, solo, {.mode = Mode::kNone}).sample;
  const at::Tensor got = half.decode(z, solo, {.mode = Mode::kNone}).sample;
  EXPECT_EQ(got.scalar_type(), at::kBFloat16);
  EXPECT_LT(test::max_difference(got, want), 0.2);
}

TEST(AutoencoderKL, Float16IsUpcastWithAWord) {
  const auto model = AutoencoderKL::load(kData / "kl_sd", {.dtype = at::kHalf});
  EXPECT_EQ(model.dtype(), at::kFloat);
  EXPECT_THAT(model.notes(), testing::Contains(testing::HasSubstr("force_upcast")));
}

TEST(AutoencoderKL, OnlyTheAskedPartIsThere) {
  const auto decoder = AutoencoderKL::load(kData / "kl_sd", {.part = Part::kDecoder});
  EXPECT_LT(decoder.weight_bytes(), kl_sd().weight_bytes());
  Group solo = Group::solo();
  EXPECT_REFUSED(decoder.encode(at::zeros({1, 3, 32, 32}), solo), "the encoder was not loaded");
}

TEST(AutoencoderKL, WrongInputsAreRefusedByName) {
  Group solo = Group::solo();
  EXPECT_REFUSED(kl_sd().decode(at::zeros({1, 5, 8, 8}), solo), "5 channels, the model takes 4");
  EXPECT_REFUSED(kl_sd().decode(at::zeros({4, 8, 8}), solo), "3 axes");
  EXPECT_REFUSED(kl_sd().decode(at::zeros({1, 4, 0, 8}), solo), "empty");
  EXPECT_REFUSED(kl_sd().decode(at::full({1, 4, 8, 8}, NAN), solo), "NaN");
  EXPECT_REFUSED(kl_sd().encode(at::zeros({1, 3, 2, 8}), solo), "smaller than one latent unit");
}

TEST(AutoencoderKL, AnOverflowNamesTheLayer) {
  Group solo = Group::solo();
  const at::Tensor z = at::full({1, 4, 4, 4}, 3e38);
  EXPECT_THAT(
      [&] { kl_sd().decode(z, solo, {.mode = Mode::kNone}); },
      testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("first in the output of ")));
}

TEST(Posterior, SplitsAndClampsAndSamplesBySeed) {
  const at::Tensor moments =
      at::cat({at::full({1, 2, 2, 2}, 3.0), at::full({1, 2, 2, 2}, 50.0)}, 1).to(at::kFloat);
  const Posterior p = posterior(moments);
  EXPECT_EQ(p.mean.min().item<float>(), 3);
  EXPECT_EQ(p.logvar.max().item<float>(), 20);
  EXPECT_TENSOR_EQ(sample(p, 5), sample(p, 5));
  EXPECT_FALSE(test::same_bits(sample(p, 5), sample(p, 6)));
  const Posterior sure{.mean = p.mean, .logvar = at::full_like(p.mean, -30)};
  EXPECT_LT(test::max_difference(sample(sure, 1), p.mean), 1e-5);
}

/// A copy of kl_sd whose weights a test may spoil.
std::filesystem::path spoiled(
    const test::TemporaryFolder& folder,
    const std::function<void(std::map<std::string, at::Tensor>&)>& spoil) {
  auto tensors = read_tensors(kData / "kl_sd" / "diffusion_pytorch_model.safetensors");
  spoil(tensors);
  write_safetensors(folder.path / "diffusion_pytorch_model.safetensors",
                    {tensors.begin(), tensors.end()});
  std::filesystem::copy_file(kData / "kl_sd" / "config.json", folder.path / "config.json");
  return folder.path;
}

TEST(AutoencoderKL, MissingSurplusAndMisshapenWeightsAreAllNamed) {
  const test::TemporaryFolder folder;
  const auto path = spoiled(folder, [](auto& t) {
    t.erase("decoder.conv_in.bias");
    t["decoder.conv_out.weight"] = at::zeros({3, 16, 3, 3});
    t["decoder.mid_block.extra.weight"] = at::zeros({1});
  });
  EXPECT_REFUSED(AutoencoderKL::load(path), "missing decoder.conv_in.bias");
  EXPECT_REFUSED(AutoencoderKL::load(path),
                 "decoder.conv_out.weight has the shape [3, 16, 3, 3], expected [3, 32, 3, 3]");
  EXPECT_REFUSED(AutoencoderKL::load(path), "surplus decoder.mid_block.extra.weight");
  EXPECT_NO_THROW(AutoencoderKL::load(path, {.part = Part::kEncoder})) << "the encoder is whole";
}

TEST(AutoencoderKL, NanWeightsAreRefusedByName) {
  const test::TemporaryFolder folder;
  const auto path = spoiled(folder, [](auto& t) { t["encoder.conv_in.weight"][0][0][0][0] = NAN; });
  EXPECT_REFUSED(AutoencoderKL::load(path), "encoder.conv_in.weight holds NaN");
}

TEST(KlConfig, WrongValuesAreRefusedByKey) {
  const test::TemporaryFolder folder;
  const auto config = [&](const std::string& text) {
    std::ofstream(folder.path / "config.json") << text;
    return read_kl_config(folder.path / "config.json");
  };
  EXPECT_REFUSED(config("{"), "is not JSON");
  EXPECT_REFUSED(config("[1]"), "not a JSON object");
  EXPECT_REFUSED(config(R"({"_class_name":"AutoencoderDC"})"), "describes an AutoencoderDC");
  EXPECT_REFUSED(config(R"({"latent_channels":"four"})"), "latent_channels is \"four\"");
  EXPECT_REFUSED(config(R"({"block_out_channels":[30],"norm_num_groups":32})"),
                 "do not divide into 32 groups");
  EXPECT_REFUSED(config(R"({"latents_mean":[1,2],"latents_std":[1,2]})"), "2 latents_mean");
  EXPECT_REFUSED(config(R"({"down_block_types":["AttnDownEncoderBlock2D"]})"),
                 "AttnDownEncoderBlock2D");
  EXPECT_EQ(config(R"({"sample_size":[256,256]})").sample_size, 256);
  EXPECT_FALSE(config(R"({})").sample_size.has_value());
}

}  // namespace
}  // namespace intarsia::vae
