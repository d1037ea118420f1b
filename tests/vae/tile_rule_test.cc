#include <intarsia/vae.h>

#include "support/tensors.h"

namespace intarsia::vae {
namespace {

KlConfig config_of(int64_t sample_size, size_t levels = 4) {
  KlConfig c;
  c.sample_size = sample_size;
  c.block_out_channels.assign(levels, 32);
  return c;
}

TileRule decode(int64_t tile, double overlap = 0.25, size_t levels = 4) {
  return tile_rule(config_of(tile, levels), Direction::kDecode, {.overlap = overlap});
}

TEST(TileRule, GivesTheNumbersOfRealModels) {
  const TileRule sd = decode(512);
  EXPECT_EQ(sd.tile, 64);
  EXPECT_EQ(sd.stride, 48);
  EXPECT_EQ(sd.blend, 128);
  EXPECT_EQ(sd.crop, 384);
  const TileRule flux = decode(1024);
  EXPECT_EQ(flux.tile, 128);
  EXPECT_EQ(flux.stride, 96);
  EXPECT_EQ(flux.blend, 256);
  const TileRule encode = tile_rule(config_of(512), Direction::kEncode, {});
  EXPECT_EQ(encode.tile, 512);
  EXPECT_EQ(encode.stride, 384);
  EXPECT_EQ(encode.blend, 16);
  EXPECT_EQ(encode.crop, 48);
}

TEST(TileRule, AcceptsEveryOverlapThatIsAWholeNumberOfLatentUnits) {
  for (const double overlap : {0.0, 0.125, 0.25, 0.5, 0.75}) EXPECT_NO_THROW(decode(64, overlap));
  EXPECT_NO_THROW(decode(20, 0.2, 3));
  EXPECT_NO_THROW(decode(40, 0.4, 4));
}

TEST(TileRule, FloatErrorOfTheOverlapIsNotTheCallersFault) {
  // int(10·(1 − 0.9)) is 0 in floating point; the stride meant is 1.
  EXPECT_EQ(decode(80, 0.9).stride, 1);
}

TEST(TileRule, RefusesWhatDiffusersGetsWrongAndSaysWhatWorks) {
  EXPECT_REFUSED(decode(512, 0.3), "keep 359 of the 352");
  EXPECT_REFUSED(decode(512, 0.3), "works: ");
  EXPECT_REFUSED(decode(512, 0.3), "tile 512 with overlap 0.296875");
  EXPECT_REFUSED(decode(1000), "keep 750 of the 744");
  EXPECT_REFUSED(decode(1000), "tile 992");
  EXPECT_REFUSED(decode(500), "not a multiple of the 8 pixels of a latent unit");
  EXPECT_REFUSED(decode(4), "less than one latent unit");
  EXPECT_REFUSED(decode(512, 1.0), "below 1");
  EXPECT_REFUSED(decode(512, -0.1), "overlap is -0.1");
  EXPECT_REFUSED(decode(512, std::nan("")), "overlap is nan");
}

TEST(TileRule, EverySuggestionWorks) {
  // Whatever is accepted tiles every size without a shift (the law of plan/tiles_test.cc).
  for (int64_t tile = 1; tile <= 96; ++tile)
    for (const double overlap : {0.0, 0.1, 0.25, 0.3, 0.5, 0.9}) {
      try {
        const TileRule rule = decode(tile, overlap);
        EXPECT_EQ(fault_of(rule), "");
        EXPECT_EQ(rule.tile * 8, tile);
      } catch (const std::invalid_argument& e) {
        EXPECT_THAT(e.what(), testing::AnyOf(testing::HasSubstr("works: tile"),
                                             testing::HasSubstr("use a multiple of")));
      }
    }
}

}  // namespace
}  // namespace intarsia::vae
