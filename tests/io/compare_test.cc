#include <intarsia/compare.h>
#include <intarsia/picture.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/tensors.h"

namespace intarsia::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

at::Tensor vector(const std::vector<double>& values) {
  return at::tensor(at::ArrayRef<double>(values));
}

std::filesystem::path asset(const std::string& name) {
  return std::filesystem::path(INTARSIA_ASSETS) / "tiny-vae" / name;
}

at::Tensor asset_pixels(const std::string& name) { return read_picture(asset(name)).pixels; }

TEST(Compare, FiguresOfTwoVectorsAreThoseByHand) {
  const Difference d = compare(vector({1, 2, 3, 4}), vector({1, 2, 5, 3}), 10);
  EXPECT_EQ(d.largest, 2);
  EXPECT_EQ(d.mean, 0.75);
  EXPECT_DOUBLE_EQ(d.rmse, std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(d.psnr, 10 * std::log10(100 / 1.25));
  EXPECT_THAT(d.where, ElementsAre(2));
  EXPECT_EQ(d.unequal, 2);
  EXPECT_EQ(d.count, 4);
  EXPECT_FALSE(d.bit_equal);
  EXPECT_EQ(d.non_finite, 0);
}

TEST(Compare, TheLargestIsFoundAlongEveryAxisAndAcrossPieces) {
  const at::Tensor a = at::zeros({3, 700'001}, at::kByte);  // larger than what is compared at once
  at::Tensor b = a.clone();
  b[2][699'999] = 255;
  b[0][5] = 3;
  const Difference d = compare(a, b.t().contiguous().t(), 255);
  EXPECT_THAT(d.where, ElementsAre(2, 699'999));
  EXPECT_EQ(d.largest, 255);
  EXPECT_EQ(d.unequal, 2);
  EXPECT_EQ(d.count, 2'100'003);
}

TEST(Compare, EqualTensorsAreEqualInEveryFigure) {
  for (const auto dtype : {at::kByte, at::kBool, at::kLong, at::kHalf, at::kBFloat16, at::kFloat,
                           at::kDouble, at::kUInt16, at::kFloat8_e4m3fn, at::kComplexFloat}) {
    const at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3}).to(dtype);
    const Difference d = compare(x, x.clone(), 1);
    EXPECT_TRUE(d.bit_equal) << dtype;
    EXPECT_EQ(d.largest, 0) << dtype;
    EXPECT_EQ(d.unequal, 0) << dtype;
    EXPECT_EQ(d.psnr, kInf) << dtype;
  }
}

TEST(Compare, DtypesMayDifferButAreThenNotBitEqual) {
  const at::Tensor x = at::arange(6, at::kFloat);
  const Difference d = compare(x, x.to(at::kByte), 1);
  EXPECT_EQ(d.unequal, 0);
  EXPECT_FALSE(d.bit_equal);
  const Difference zeros = compare(vector({0.0}), vector({-0.0}), 1);
  EXPECT_EQ(zeros.unequal, 0);
  EXPECT_FALSE(zeros.bit_equal);
}

TEST(Compare, NanBesideNanIsNoDifferenceAndIsCounted) {
  const Difference same = compare(vector({kNaN, kInf, 1}), vector({kNaN, kInf, 2}), 1);
  EXPECT_EQ(same.largest, 1);
  EXPECT_EQ(same.unequal, 1);
  EXPECT_EQ(same.non_finite, 2);
  EXPECT_THAT(same.where, ElementsAre(2));
  EXPECT_TRUE(compare(vector({kNaN}), vector({kNaN}), 1).bit_equal);
}

TEST(Compare, NanOnOneSideIsInfinitelyFar) {
  for (const auto& [a, b] : {std::pair{kNaN, 1.0}, {1.0, kNaN}, {kInf, 1.0}, {kInf, -kInf}}) {
    const Difference d = compare(vector({0, a}), vector({0, b}), 1);
    EXPECT_EQ(d.largest, kInf);
    EXPECT_EQ(d.mean, kInf);
    EXPECT_EQ(d.psnr, -kInf);
    EXPECT_THAT(d.where, ElementsAre(1));
    EXPECT_EQ(d.non_finite, 1);
  }
}

TEST(Compare, EmptyAndScalarTensorsHaveFigures) {
  const Difference none = compare(at::empty({0, 3}), at::empty({0, 3}), 1);
  EXPECT_EQ(none.count, 0);
  EXPECT_TRUE(none.bit_equal);
  EXPECT_EQ(none.psnr, kInf);
  EXPECT_THAT(none.where, IsEmpty());
  EXPECT_EQ(compare(at::scalar_tensor(1.0), at::scalar_tensor(3.0), 1).largest, 2);
}

TEST(Compare, WhatCannotBeComparedIsRefused) {
  const at::Tensor x = at::zeros({2, 3});
  EXPECT_REFUSED(compare(x, at::zeros({3, 2}), 1), "[2, 3] and [3, 2]");
  EXPECT_REFUSED(compare(x, at::Tensor(), 1), "undefined");
  EXPECT_REFUSED(compare(x, x.to_sparse(), 1), "dense");
  EXPECT_REFUSED(compare(x, x.to(at::kComplexFloat), 1), "complex");
  EXPECT_REFUSED(compare(x, x, 0), "peak");
  EXPECT_REFUSED(ssim(x, at::zeros({3, 2}), 1), "[2, 3] and [3, 2]");
  EXPECT_REFUSED(ssim(at::zeros({3}), at::zeros({3}), 1), "[H, W, C] or [H, W]");
  EXPECT_REFUSED(ssim(at::zeros({0, 3}), at::zeros({0, 3}), 1), "[H, W, C] or [H, W]");
  EXPECT_REFUSED(seam_figure(at::zeros({3}), {}, {}), "[H, W, C] or [H, W]");
}

// Expected: skimage's structural_similarity(gaussian_weights=True, use_sample_covariance=False).
TEST(Ssim, IsThatOfScikitImage) {
  const at::Tensor a = asset_pixels("expected/astronaut_untiled.png");
  const at::Tensor b = asset_pixels("expected/astronaut_tiled128_ov0.25.png");
  const at::Tensor c = asset_pixels("expected/astronaut_tiled128_no_blend.png");
  EXPECT_NEAR(ssim(a, b, 255), 0.9474443820672622, 1e-10);
  EXPECT_NEAR(ssim(a, c, 255), 0.9349730630883339, 1e-10);
  EXPECT_NEAR(ssim(a.select(2, 0), b.select(2, 0), 255), 0.9498843627784257, 1e-10);
  const auto corner = [](const at::Tensor& x) { return x.narrow(0, 0, 11).narrow(1, 0, 40); };
  EXPECT_NEAR(ssim(corner(a), corner(b), 255), 0.9289759628872648, 1e-10);
}

TEST(Ssim, EqualPicturesHaveOneAtAnySize) {
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 50}, {2, 2}, {10, 12}, {11, 11}}) {
    const at::Tensor x = randn({height, width, 3});
    EXPECT_NEAR(ssim(x, x, 2), 1, 1e-12);
    EXPECT_LT(ssim(x, x + randn({height, width, 3}, 2), 2), 0.99);
  }
}

TEST(Seam, FiguresOfTheAssetsAreReproduced) {
  std::ifstream file(asset("figures.json"));
  const auto figures = nlohmann::json::parse(file);
  const auto borders = [](const at::Tensor& x) {
    std::vector<int64_t> columns;
    for (int64_t at = 96; at < x.size(1); at += 96) columns.push_back(at);
    return columns;
  };
  for (const std::string name : {"astronaut", "rocket", "chelsea", "coffee", "mosaic"}) {
    const auto& row = figures.at(name);
    const std::string photo = name == "rocket" || name == "mosaic" ? ".jpg" : ".png";
    const at::Tensor original = asset_pixels("photos/" + name + photo);
    const at::Tensor whole = asset_pixels("expected/" + name + "_untiled.png");
    const at::Tensor tiled = asset_pixels("expected/" + name + "_tiled128_ov0.25.png");
    EXPECT_NEAR(seam_figure(whole, {}, borders(whole)), row.at("seam_ratio_untiled"), 1e-3) << name;
    EXPECT_NEAR(seam_figure(tiled, {}, borders(tiled)), row.at("seam_ratio_tiled"), 1e-3) << name;
    EXPECT_NEAR(compare(whole, original, 255).psnr, row.at("psnr_untiled"), 0.006) << name;
    EXPECT_NEAR(compare(tiled, original, 255).psnr, row.at("psnr_tiled"), 0.006) << name;
    EXPECT_EQ(compare(tiled, whole, 255).largest, row.at("max_tiled_vs_untiled")) << name;
  }
  const at::Tensor raw = asset_pixels("expected/astronaut_tiled128_no_blend.png");
  EXPECT_NEAR(seam_figure(raw, {}, borders(raw)), figures["astronaut"]["seam_ratio_no_blend"],
              1e-3);
}

TEST(Seam, RowsAndColumnsCountAlike) {
  const at::Tensor x = randn({40, 40, 3});
  EXPECT_DOUBLE_EQ(seam_figure(x, {16, 24}, {}), seam_figure(x.transpose(0, 1), {}, {16, 24}));
  EXPECT_NEAR(seam_figure(x, {20}, {20}), 1, 0.2);
  const at::Tensor tiles = at::zeros({40, 40});
  EXPECT_EQ(seam_figure(tiles, {20}, {}), 1);
  tiles.narrow(0, 20, 20).fill_(1);
  EXPECT_EQ(seam_figure(tiles, {20}, {}), kInf);
}

TEST(Seam, BordersAtTheEdgeAreLeftOut) {
  const at::Tensor x = randn({40, 8, 3});
  EXPECT_TRUE(std::isnan(seam_figure(x, {}, {})));
  EXPECT_TRUE(std::isnan(seam_figure(x, {-5, 0, 3, 37, 40, 99}, {3, 5})));
  EXPECT_FALSE(std::isnan(seam_figure(x, {4}, {})));
  EXPECT_FALSE(std::isnan(seam_figure(x, {36}, {4})));
}

}  // namespace
}  // namespace intarsia::test
