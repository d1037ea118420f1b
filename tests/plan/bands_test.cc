#include <intarsia/plan.h>

#include "support/tensors.h"

namespace intarsia {
namespace {

TEST(Bands, NeighboursSkipEmptyBands) {
  const auto cut = bands(2, 5);  // rows at parts 2 and 4
  EXPECT_EQ(cut[2], (Range{0, 1}));
  EXPECT_EQ(cut[4], (Range{1, 2}));
  EXPECT_EQ(band_after(cut, 2), 4);
  EXPECT_EQ(band_before(cut, 4), 2);
  EXPECT_EQ(band_before(cut, 2), -1);
  EXPECT_EQ(band_after(cut, 4), -1);
}

TEST(Halo, AThreeByThreeConvolutionTakesOneRowOfEachNeighbour) {
  const Halo inner = halo({4, 8}, 12, 3, 1, 1, 1);
  EXPECT_EQ(inner.before, 1);
  EXPECT_EQ(inner.after, 1);
  EXPECT_EQ(inner.zeros_before + inner.zeros_after, 0);
  const Halo first = halo({0, 4}, 12, 3, 1, 1, 1);
  EXPECT_EQ(first.zeros_before, 1);
  EXPECT_EQ(first.before, 0);
  const Halo last = halo({8, 12}, 12, 3, 1, 1, 1);
  EXPECT_EQ(last.zeros_after, 1);
  EXPECT_EQ(last.after, 0);
}

TEST(Halo, AStrideTwoConvolutionPaddedRightNeedsOnlyTheNextBand) {
  const Halo inner = halo({4, 8}, 12, 3, 2, 0, 1);
  EXPECT_EQ(inner.before, 0);
  EXPECT_EQ(inner.after, 1);
  const Halo last = halo({8, 12}, 12, 3, 2, 0, 1);
  EXPECT_EQ(last.after, 0);
  EXPECT_EQ(last.zeros_after, 1);
}

// The law that bands rest on: rows with their halo give exactly the rows of the whole.
TEST(Halo, BandsOfAConvolutionJoinToTheWhole) {
  const auto weight = test::randn({2, 3, 3, 3}, 2);
  for (const int64_t extent : {6, 8, 10, 14}) {
    const auto x = test::randn({1, 3, extent, 5});
    for (const auto& [stride, before, after] : {std::tuple{1, 1, 1}, {2, 0, 1}}) {
      const auto whole =
          at::conv2d(at::constant_pad_nd(x, {1, 1, before, after}), weight, {}, {stride, stride});
      for (const int64_t parts : {1, 2, 3, 5}) {
        std::vector<at::Tensor> joined;
        for (int64_t p = 0; p < parts; ++p) {
          Range band = even_part(extent / 2, parts, p);
          band = {2 * band.begin, 2 * band.end};
          if (band.empty()) continue;
          const Halo h = halo(band, extent, 3, stride, before, after);
          auto rows = x.narrow(2, band.begin - h.before, band.size() + h.before + h.after);
          rows = at::constant_pad_nd(rows, {1, 1, h.zeros_before, h.zeros_after});
          joined.push_back(at::conv2d(rows, weight, {}, {stride, stride}));
        }
        EXPECT_LT(test::max_difference(at::cat(joined, 2), whole), 1e-5);
      }
    }
  }
}

TEST(Halo, BandsThatCutAStrideAreRefused) {
  EXPECT_REFUSED(halo({3, 8}, 12, 3, 2, 0, 1), "does not divide by the stride 2");
  EXPECT_REFUSED(halo({0, 4}, 12, 1, 2, 0, 0), "skips rows");
}

}  // namespace
}  // namespace intarsia
