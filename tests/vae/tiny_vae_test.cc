#include <intarsia/picture.h>
#include <intarsia/tensor_file.h>
#include <intarsia/vae.h>

#include "support/ranks.h"
#include "support/tensors.h"

// The pictures of the bundled trained model against those that diffusers made (float32).
namespace intarsia::vae {
namespace {

const std::filesystem::path kModel = std::filesystem::path(INTARSIA_ASSETS) / "tiny-vae";

const AutoencoderKL& tiny() {
  static const AutoencoderKL model = AutoencoderKL::load(kModel);
  return model;
}

at::Tensor latents_of(const std::string& photo) {
  return read_tensor(kModel / "latents" / (photo + ".safetensors")).tensor;
}

/// Decoded on `ranks` ranks; the picture rank 0 has.
at::Tensor decoded(const std::string& photo, int ranks, const RunOptions& options) {
  at::Tensor picture;
  test::run_ranks(ranks, [&](Group& group) {
    const Decoded d = tiny().decode(latents_of(photo), group, options);
    if (group.rank() == 0) picture = to_pixels(d.sample);
  });
  return picture;
}

at::Tensor expected(const std::string& photo, const std::string& how) {
  return read_picture(kModel / "expected" / (photo + "_" + how + ".png")).pixels;
}

class TinyVae : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, TinyVae, testing::Values("astronaut", "chelsea", "coffee", "rocket"));

TEST_P(TinyVae, WholePicturesAreThoseOfDiffusers) {
  const at::Tensor got = decoded(GetParam(), 2, {.mode = Mode::kNone});
  EXPECT_LE(test::max_difference(got, expected(GetParam(), "untiled")), 1);
}

TEST_P(TinyVae, PicturesInTilesAreThoseOfDiffusers) {
  const at::Tensor got = decoded(GetParam(), 3, {.mode = Mode::kTile});
  EXPECT_LE(test::max_difference(got, expected(GetParam(), "tiled128_ov0.25")), 1);
}

TEST(TinyVaeMosaic, InTilesIsThatOfDiffusers) {
  const at::Tensor got = decoded("mosaic", 2, {.mode = Mode::kTile});
  EXPECT_LE(test::max_difference(got, expected("mosaic", "tiled128_ov0.25")), 1);
}

TEST(TinyVaePart, FloatsAreThoseOfDiffusersWithinItsOwnError) {
  const auto part = read_tensors(kModel / "expected" / "chelsea_part_float32.safetensors");
  Group solo = Group::solo();
  const auto decode = [&](Mode mode) {
    return tiny().decode(part.at("latents"), solo, {.mode = mode}).sample;
  };
  EXPECT_LT(test::max_difference(decode(Mode::kNone), part.at("decoded_untiled")), 1e-4);
  EXPECT_LT(test::max_difference(decode(Mode::kTile), part.at("decoded_tiled128_ov0.25")), 1e-4);
}

TEST(TinyVaeEncoder, GivesTheBundledLatentsOfTheLosslessPhotos) {
  Group solo = Group::solo();
  for (const std::string photo : {"astronaut", "chelsea", "coffee"}) {
    const Picture picture = read_picture(kModel / "photos" / (photo + ".png"));
    const at::Tensor moments =
        tiny().encode(from_pixels(picture.pixels), solo, {.mode = Mode::kNone}).moments;
    // They were encoded before the weights were rounded to float16: at most 0.012 apart.
    EXPECT_LT(test::max_difference(posterior(moments).mean, latents_of(photo)), 0.013) << photo;
  }
}

}  // namespace
}  // namespace intarsia::vae
