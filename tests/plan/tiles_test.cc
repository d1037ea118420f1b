#include <intarsia/plan.h>

#include "support/tensors.h"

namespace intarsia {
namespace {

using testing::HasSubstr;
using Shape = std::pair<size_t, size_t>;

// Letters of vae.md 1.3: H extent, L tile, S stride (latent units), f pixels per latent unit.
const Scale kDecode8{8, 1};

Shape grid_of(int64_t h, int64_t w, int64_t tile, int64_t stride) {
  const TileRule rule = consistent_rule(tile, stride, kDecode8);
  const TileGrid grid = tile_grid(h, w, rule, rule);
  return {grid.rows.size(), grid.cols.size()};
}

TEST(Tiles, KeptPartsGiveTheWholeAxisForEveryConsistentRule) {
  for (const Scale scale : {Scale{8, 1}, Scale{4, 1}, Scale{1, 1}}) {
    for (int64_t tile = 1; tile <= 12; ++tile) {
      for (int64_t stride = 1; stride <= tile; ++stride) {
        for (int64_t extent = 0; extent < 50; ++extent) {
          int64_t kept = 0;
          const auto spans = tile_axis(extent, consistent_rule(tile, stride, scale));
          for (const TileSpan& s : spans) {
            EXPECT_EQ(kept, scale.floor(s.in.begin)) << "content is shifted";
            kept += s.kept;
          }
          EXPECT_EQ(kept, scale.floor(extent));
          EXPECT_EQ(int64_t(spans.size()), (extent + stride - 1) / stride);
        }
      }
    }
  }
}

TEST(Tiles, TheEffectiveBlendIsTheTrueOverlap) {
  for (int64_t extent = 1; extent < 60; ++extent) {
    const auto spans = tile_axis(extent, consistent_rule(9, 5, kDecode8));
    for (size_t i = 1; i < spans.size(); ++i)
      EXPECT_EQ(spans[i].blend, 8 * (spans[i - 1].in.end - spans[i].in.begin));
  }
}

TEST(Tiles, EncodingFloorsTheLastTileOnly) {
  const TileRule rule = consistent_rule(64, 48, {1, 8});
  int64_t kept = 0;
  for (const TileSpan& s : tile_axis(104, rule)) kept += s.kept;
  EXPECT_EQ(kept, 13);
  EXPECT_EQ(rule.crop, 6);
  EXPECT_EQ(rule.blend, 2);
}

TEST(Tiles, EdgesOfTheSpecificationHaveTheirGrids) {
  EXPECT_EQ(grid_of(49, 100, 64, 48), Shape(2, 3));
  EXPECT_EQ(grid_of(97, 97, 64, 48), Shape(3, 3));
  EXPECT_EQ(grid_of(65, 64, 64, 48), Shape(2, 2));
  EXPECT_EQ(grid_of(128, 128, 64, 48), Shape(3, 3));
  EXPECT_EQ(grid_of(115, 172, 64, 48), Shape(3, 4));
  EXPECT_EQ(grid_of(45, 80, 32, 24), Shape(2, 4));
  EXPECT_EQ(grid_of(33, 32, 32, 24), Shape(2, 2));
  EXPECT_EQ(grid_of(48, 100, 64, 48), Shape(1, 3));
}

TEST(Tiles, ThinLastTilesBlendOverTheirOwnThickness) {
  const TileRule rule = consistent_rule(64, 48, kDecode8);
  const TileGrid grid = tile_grid(97, 97, rule, rule);
  EXPECT_EQ(grid.rows.back().in, (Range{96, 97}));
  EXPECT_EQ(grid.rows.back().blend, 8);
  EXPECT_EQ(grid.out_height(), 776);
  EXPECT_EQ(grid.out_width(), 776);
  const TileGrid wide = tile_grid(49, 100, rule, rule);
  EXPECT_EQ(wide.area(wide.count() - 1), 1 * 4);
}

TEST(Tiles, ABlendLargerThanTheStrideIsAllowed) {
  const TileRule rule = consistent_rule(32, 8, kDecode8);
  const TileGrid grid = tile_grid(128, 128, rule, rule);
  EXPECT_EQ(grid.count(), 256);
  EXPECT_EQ(grid.out_height(), 1024);
}

TEST(Tiles, SilentlyWrongRulesAreNamed) {
  // vae.md 1.3.4: overlap 0.3 of 512, sample size 1000, Wan stride 100, min 250, stride 320.
  const TileRule overlap{.tile = 64, .stride = 44, .crop = 359, .blend = 153, .scale = kDecode8};
  EXPECT_THAT(fault_of(overlap), HasSubstr("keep 359 of the 352"));
  const TileRule sample{.tile = 125, .stride = 93, .crop = 750, .blend = 250, .scale = kDecode8};
  EXPECT_THAT(fault_of(sample), HasSubstr("keep 750 of the 744"));
  const TileRule shifted{.tile = 32, .stride = 12, .crop = 100, .blend = 156, .scale = kDecode8};
  EXPECT_THAT(fault_of(shifted), HasSubstr("keep 100 of the 96"));
  const TileRule blend{.tile = 31, .stride = 24, .crop = 192, .blend = 58, .scale = kDecode8};
  EXPECT_THAT(fault_of(blend), HasSubstr("blend of 58 is not the true overlap of 56"));
  EXPECT_THAT(fault_of(consistent_rule(32, 40, kDecode8)), HasSubstr("leaves holes"));
  EXPECT_THAT(fault_of(consistent_rule(32, 0, kDecode8)), HasSubstr("never moves on"));
  EXPECT_THAT(fault_of(consistent_rule(60, 45, {1, 8})), HasSubstr("not whole"));
  EXPECT_REFUSED(tile_axis(10, consistent_rule(4, 5, kDecode8)), "leaves holes");
}

TEST(Patches, CoresPartitionThePictureAndHalosStayInside) {
  for (int64_t parts = 1; parts <= 9; ++parts) {
    for (const auto& [h, w] : {std::pair{12, 9}, {2, 3}, {1, 1}, {64, 64}}) {
      const PatchGrid grid = patch_grid(h, w, parts, 2);
      int64_t area = 0;
      for (const PatchCell& c : grid.cells) {
        area += c.core_rows.size() * c.core_cols.size();
        EXPECT_GE(c.rows.begin, 0);
        EXPECT_LE(c.rows.end, h);
        EXPECT_LE(c.cols.end, w);
        EXPECT_LE(c.rows.begin, c.core_rows.begin);
      }
      EXPECT_EQ(area, h * w);
      EXPECT_EQ(grid.grid_rows * grid.grid_cols, parts);
    }
  }
}

TEST(Patches, TheGridIsAsSquareAsItDivides) {
  EXPECT_EQ(patch_grid(64, 64, 8, 0).grid_rows, 2);
  EXPECT_EQ(patch_grid(64, 64, 9, 0).grid_rows, 3);
  EXPECT_EQ(patch_grid(64, 64, 7, 0).grid_rows, 1);
}

TEST(Patches, TheHaloIsAtLeastHalfTheCore) {
  const PatchGrid grid = patch_grid(64, 64, 4, 8);
  EXPECT_EQ(grid.cells[0].rows, (Range{0, 48}));
  EXPECT_EQ(patch_grid(8, 8, 4, 3).cells[3].rows, (Range{1, 8}));
}

}  // namespace
}  // namespace intarsia
