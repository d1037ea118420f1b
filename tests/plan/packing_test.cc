#include <intarsia/packing.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "support/tensors.h"

namespace intarsia {
namespace {

using Ints = std::vector<int64_t>;

std::vector<PackItem> pictures(const Ints& sizes) {
  std::vector<PackItem> items;
  for (const int64_t s : sizes) items.push_back({1, s});
  return items;
}

/// Items of each block.
std::vector<Ints> bins(const Packing& p) {
  std::vector<Ints> all(p.blocks);
  for (const Piece& piece : p.pieces) all[piece.block].push_back(piece.item);
  return all;
}

TEST(Packing, GivesTheReferenceBlocksAndRows) {
  const auto items = pictures({8, 16, 12, 4});
  const Packing p = pack_first_fit(items, 16, 3);
  EXPECT_EQ(bins(p), (std::vector<Ints>{{1}, {2, 3}, {0}}));
  const Unpack u = unpack_rows(p, items, 4);
  EXPECT_EQ(u.rows, (Ints{8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 11, 11}));
  EXPECT_EQ(u.valid, 10);
  EXPECT_EQ(bins(pack_first_fit(pictures({1024, 512, 256, 128, 128}), 1024)),
            (std::vector<Ints>{{0}, {1, 2, 3, 4}}));
}

TEST(Packing, ThePaddedRowsMayAliasARealOneButAreNeverValid) {
  const auto items = pictures({12, 8, 8});
  const Unpack u = unpack_rows(pack_first_fit(items, 16), items, 4);
  EXPECT_EQ(u.rows, (Ints{0, 1, 2, 4, 5, 6, 7, 7}));
  EXPECT_EQ(u.valid, 7);
}

TEST(Packing, BoundsAreTheFramesAndEmptyOnPadding) {
  const std::vector<PackItem> items{{2, 4}, {1, 4}};
  const Packing p = pack_first_fit(items, 12);
  const Bounds b = bounds(p, items);
  // The picture's block, then the video's with its two frames.
  EXPECT_EQ(b.min, (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                         0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0}));
  EXPECT_EQ(b.max, (std::vector<int32_t>{4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                         4, 4, 4, 4, 8, 8, 8, 8, 0, 0, 0, 0}));
}

TEST(Packing, AVideoSpreadsWholeFramesAndSharesNoBlock) {
  const std::vector<PackItem> items{{7, 300}, {1, 100}, {3, 512}};
  const Packing p = pack_first_fit(items, 1024);
  EXPECT_EQ(bins(p), (std::vector<Ints>{{1}, {0}, {0}, {0}, {2}, {2}}));
  EXPECT_EQ(p.pieces[0], (Piece{0, 0, 3, 1, 0}));
  EXPECT_EQ(p.pieces[2], (Piece{0, 6, 1, 3, 0}));
}

TEST(Packing, TooLargeItemsAndTooFewBlocksAreNamed) {
  EXPECT_REFUSED(pack_first_fit(pictures({4, 2000}), 1024),
                 "item 1 has 2000 patches, more than a block of 1024; use blocks of 2048");
  EXPECT_REFUSED(pack_first_fit(pictures({600, 600, 600}), 1024, 2), "take 3 blocks");
  EXPECT_REFUSED(pack_first_fit(pictures({0}), 16), "must have some");
}

TEST(Packing, EveryRowComesBackOnceFromAnyOrderOfBlocks) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<PackItem> items(1 + random() % 12);
    for (PackItem& item : items)
      item = {1 + int64_t(random() % 3 == 0 ? random() % 5 : 0), 4 * (1 + int64_t(random() % 16))};
    Packing p = pack_first_fit(items, 64);
    Ints order(p.blocks);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    p = renumber(p, order);
    const Unpack u = unpack_rows(p, items, 4);
    int64_t patches = 0;
    for (const PackItem& item : items) patches += item.patches();
    EXPECT_EQ(u.valid, patches / 4);
    EXPECT_EQ(std::set<int64_t>(u.rows.begin(), u.rows.begin() + u.valid).size(), size_t(u.valid));
    int64_t covered = 0;
    for (const auto& block : segments(p, items))
      for (const Range& s : block) covered += s.size();
    EXPECT_EQ(covered, patches);
  }
}

TEST(Packing, EfficiencyIsTheShareOfUsefulScores) {
  const auto items = pictures(Ints(24, 128));
  EXPECT_NEAR(block_efficiency(pack_first_fit(items, 1024), items), 0.125, 1e-9);
  EXPECT_NEAR(block_efficiency(pack_first_fit(items, 128), items), 1.0, 1e-9);
}

TEST(DealBlocks, FewFullBlocksReachEveryRankThatCanHaveOne) {
  const auto items = pictures(Ints(18, 1024));
  const Packing p = pack_first_fit(items, 1024, 32);
  const auto order = deal_blocks(p, items, 16, {});
  const Packing dealt = renumber(p, order);
  Ints load(16, 0);
  for (const Piece& piece : dealt.pieces) ++load[piece.block / 2];
  EXPECT_EQ(*std::min_element(load.begin(), load.end()), 1);
  EXPECT_EQ(*std::max_element(load.begin(), load.end()), 2);
  EXPECT_REFUSED(deal_blocks(p, items, 5, {}), "cannot be dealt out evenly");
}

TEST(DealBlocks, TheCostOfAttentionCounts) {
  const std::vector<PackItem> items{{1, 1024}, {8, 128}, {1, 512}, {1, 512}};
  const Packing p = pack_first_fit(items, 1024);
  ASSERT_EQ(p.blocks, 3);
  const auto order = deal_blocks(renumber(p, Ints{0, 1, 2}), items, 3, {1, 0, 0});
  EXPECT_EQ(order, (Ints{0, 1, 2}));
}

TEST(Buckets, ThePackingMayNeedMoreThanThePatchesSay) {
  const Ints buckets{1024, 2048, 4096};
  const auto choice = choose_bucket(buckets, pictures({600, 600, 600}), 1024, 1);
  EXPECT_EQ(choice.bucket, 4096) << "1800 patches fit 2048, but they take 3 blocks";
  EXPECT_EQ(choice.packing.blocks, 4);
  EXPECT_EQ(choose_bucket(buckets, pictures({512, 512}), 1024, 4).packing.blocks, 4) << "dp pads";
  EXPECT_REFUSED(choose_bucket(buckets, pictures(Ints(5, 1000)), 1024, 1),
                 "largest bucket of 4096");
}

TEST(Buckets, PaddingForDpRoundsUp) {
  EXPECT_EQ(bucket_blocks(30720, 1024, 16), 32);
  EXPECT_EQ(bucket_blocks(1, 1024, 1), 1);
  EXPECT_EQ(bucket_blocks(0, 1024, 4), 0);
}

TEST(Buckets, WrongListsAreRefused) {
  EXPECT_REFUSED(check_buckets(Ints{}, 16), "empty");
  EXPECT_REFUSED(check_buckets(Ints{32, 16}, 16), "ascend");
  EXPECT_REFUSED(check_buckets(Ints{16}, 32), "less than one block");
  EXPECT_REFUSED(check_buckets(Ints{0, 32}, 32), "no patch");
  EXPECT_EQ(automatic_buckets(2048, 7000), (Ints{2048, 4096, 8192}));
  EXPECT_EQ(automatic_buckets(2048, 10), (Ints{2048}));
}

}  // namespace
}  // namespace intarsia
