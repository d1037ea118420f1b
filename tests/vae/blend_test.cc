#include "vae/blend.h"

#include <queue>

#include "support/tensors.h"

namespace intarsia::vae {
namespace {

struct Given : TileStream {
  std::queue<TileResult> tiles;
  std::optional<TileResult> next() override {
    if (tiles.empty()) return std::nullopt;
    TileResult t = tiles.front();
    tiles.pop();
    return t;
  }
};

/// All tiles of a grid, each as `value(row, column, span, span)` says.
template <typename F>
at::Tensor merged(const TileGrid& grid, F value) {
  Given given;
  for (size_t i = 0; i < grid.rows.size(); ++i)
    for (size_t j = 0; j < grid.cols.size(); ++j)
      given.tiles.push({{int64_t(i), int64_t(j)}, value(i, j, grid.rows[i], grid.cols[j])});
  return merge_tiles(given, grid);
}

TEST(Blend, LineYOfTheNewTileWeighsYOverTheExtent) {
  const auto a = at::ones({1, 1, 6, 2});
  auto b = at::zeros({1, 1, 6, 2});
  blend(a, b, 2, 4);
  EXPECT_TENSOR_EQ(b.select(3, 0).flatten(), at::tensor({1.f, .75f, .5f, .25f, 0.f, 0.f}));
}

TEST(Blend, AnInteriorCornerHasTheClosedFormOfTheCascade) {
  // Tiles of 12 with stride 8 at scale 1: e = 4. One-hot pictures give the four weights.
  const TileRule rule = consistent_rule(12, 8, {1, 1});
  const TileGrid grid = tile_grid(24, 24, rule, rule);
  const auto weight_of = [&](size_t row, size_t col) {
    const at::Tensor whole = merged(grid, [&](size_t i, size_t j, auto& r, auto& c) {
      return at::full({1, 1, r.out, c.out}, i == row && j == col ? 1.0 : 0.0, at::kDouble);
    });
    return whole[0][0][8 + 2][8 + 3].template item<double>();  // (y, x) = (2, 3) of tile (1, 1)
  };
  EXPECT_NEAR(weight_of(1, 1), 0.375, 1e-15);
  EXPECT_NEAR(weight_of(0, 1), 0.28125, 1e-15);
  EXPECT_NEAR(weight_of(1, 0), 0.125, 1e-15);
  EXPECT_NEAR(weight_of(0, 0), 0.21875, 1e-15);
}

TEST(Merge, IdenticalOverlapsGiveTheWholeBack) {
  // join(split(x)) == x, for odd sizes, thin last tiles and cascades over more than two tiles.
  const at::Tensor x = test::randn({2, 3, 37, 29});
  for (const auto& [tile, stride] : {std::pair{8, 6}, {8, 8}, {8, 4}, {9, 2}, {40, 30}, {5, 1}}) {
    const TileRule rule = consistent_rule(tile, stride, {1, 1});
    const TileGrid grid = tile_grid(37, 29, rule, rule);
    const at::Tensor whole = merged(grid, [&](size_t, size_t, auto& r, auto& c) {
      return x.narrow(2, r.in.begin, r.in.size()).narrow(3, c.in.begin, c.in.size()).clone();
    });
    EXPECT_LT(test::max_difference(whole, x), 2e-6) << tile << " " << stride;
  }
}

TEST(Merge, WithoutOverlapTilesAreCopiedBitForBit) {
  const at::Tensor x = test::randn({1, 3, 20, 23});
  const TileRule rule = consistent_rule(7, 7, {1, 1});
  const at::Tensor whole =
      merged(tile_grid(20, 23, rule, rule), [&](size_t, size_t, auto& r, auto& c) {
        return x.narrow(2, r.in.begin, r.in.size()).narrow(3, c.in.begin, c.in.size()).clone();
      });
  EXPECT_TENSOR_EQ(whole, x);
}

TEST(Blend, SixteenBitProductsAndSumsAreRoundedOneByOne) {
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    const at::Tensor a = test::randn({1, 2, 8, 5}, 1).to(dtype);
    const at::Tensor b = test::randn({1, 2, 8, 5}, 2).to(dtype);
    at::Tensor got = b.clone();
    blend(a, got, 2, 4);
    for (int64_t y = 0; y < 4; ++y) {
      // As Python writes it: tensor times a double, twice, then a sum.
      const at::Tensor want =
          a.select(2, 4 + y) * (1 - double(y) / 4) + b.select(2, y) * (double(y) / 4);
      EXPECT_TENSOR_EQ(got.select(2, y), want);
    }
  }
}

}  // namespace
}  // namespace intarsia::vae
