#include <intarsia/vae.h>

#include "support/tensors.h"

namespace intarsia::vae {
namespace {

KlConfig flux() {
  KlConfig c;
  c.latent_channels = 16;
  c.scaling_factor = 0.3611;
  c.shift_factor = 0.1159;
  return c;
}

TEST(Latents, EverySpaceComesBack) {
  const at::Tensor z = test::randn({2, 16, 6, 10}) * 3;
  KlConfig stats = flux();
  stats.shift_factor.reset();
  for (int i = 0; i < 16; ++i) {
    stats.latents_mean.push_back(0.1 * i - 0.7);
    stats.latents_std.push_back(1 + 0.05 * i);
  }
  for (const KlConfig& c : {flux(), stats})
    for (const auto space : {LatentSpace::kModel, LatentSpace::kScaled, LatentSpace::kPacked}) {
      const at::Tensor x = from_model_space(z, space, c);
      EXPECT_LT(test::max_difference(to_model_space(x, space, c, 48, 80), z), 1e-5);
    }
}

TEST(Latents, PackedPatchesAreChannelsThenRowThenColumn) {
  // One patch holds, for each channel, its 2×2 pixels.
  const at::Tensor x = at::arange(0, 64, at::kFloat).view({1, 1, 64});
  KlConfig c = flux();
  c.scaling_factor = 1;
  c.shift_factor = 0;
  const at::Tensor z = to_model_space(x, LatentSpace::kPacked, c, 16, 16);
  EXPECT_TENSOR_EQ(z[0][1], at::tensor({4.f, 5.f, 6.f, 7.f}).view({2, 2}));
}

TEST(Latents, SizesThatDoNotFitAreRefused) {
  const KlConfig c = flux();
  EXPECT_REFUSED(to_model_space(at::zeros({1, 4, 8, 8}), LatentSpace::kModel, c),
                 "4 channels, the model takes 16");
  EXPECT_REFUSED(to_model_space(at::zeros({1, 15, 64}), LatentSpace::kPacked, c, 64, 64),
                 "15 patches, 64x64 pixels have 16");
  EXPECT_REFUSED(to_model_space(at::zeros({1, 16, 64}), LatentSpace::kPacked, c),
                 "give height and width");
  EXPECT_REFUSED(to_model_space(at::zeros({1, 16, 64}), LatentSpace::kModel, c),
                 "--latents packed");
  EXPECT_REFUSED(to_model_space(at::zeros({1, 16, 8, 8}, at::kLong), LatentSpace::kModel, c),
                 "not floating point");
  EXPECT_REFUSED(from_model_space(at::zeros({1, 16, 3, 4}), LatentSpace::kPacked, c),
                 "both sizes must be even");
  EXPECT_REFUSED(latent_space_of("raw"), "use model, scaled or packed");
}

TEST(Pixels, RoundAndClamp) {
  const at::Tensor x = at::tensor({-2.f, -1.f, 0.9f / 255 - 1, 1.1f / 255 - 1, 0.f, 1.f, 9.f});
  const at::Tensor picture = x.view({1, 1, 1, 7}).expand({1, 3, 1, 7});
  const at::Tensor got = to_pixels(picture).select(2, 0).flatten();
  EXPECT_TENSOR_EQ(got, at::tensor({0, 0, 0, 1, 128, 255, 255}, at::kByte));  // 127.5 → 128
}

TEST(Pixels, EveryByteAndEverySixteenBitValueComesBack) {
  const at::Tensor bytes =
      at::arange(256, at::kInt).to(at::kByte).view({16, 16, 1}).expand({16, 16, 3});
  EXPECT_TENSOR_EQ(to_pixels(from_pixels(bytes)), bytes.contiguous());
  const at::Tensor deep = at::arange(65536, at::kInt).view({256, 256, 1}).expand({256, 256, 3});
  EXPECT_TENSOR_EQ(to_pixels(from_pixels(deep, 16), 0, 16), deep.contiguous());
}

TEST(Pixels, TheExactFormRoundsInTheModelsDtype) {
  const at::Tensor x = test::randn({1, 3, 8, 8}).to(at::kBFloat16);
  const at::Tensor want = (x[0] * 0.5 + 0.5)
                              .clamp(0, 1)
                              .to(at::kFloat)
                              .permute({1, 2, 0})
                              .mul(255)
                              .round()
                              .to(at::kByte);
  EXPECT_TENSOR_EQ(to_pixels(x, 0, 8, true), want.contiguous());
  EXPECT_FALSE(test::same_bits(to_pixels(x), to_pixels(x, 0, 8, true)));
}

}  // namespace
}  // namespace intarsia::vae
