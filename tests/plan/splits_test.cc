#include <intarsia/packing.h>

#include "support/tensors.h"

namespace intarsia {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

TEST(ResolveTpDp, FollowsTheTable) {
  EXPECT_EQ(resolve_tp_dp({}, {}, 8), (TpDp{1, 8}));
  EXPECT_EQ(resolve_tp_dp(2, {}, 8), (TpDp{2, 4}));
  EXPECT_EQ(resolve_tp_dp({}, 2, 8), (TpDp{4, 2}));
  EXPECT_EQ(resolve_tp_dp(4, 2, 8), (TpDp{4, 2}));
}

TEST(ResolveTpDp, AnExplicitOneIsNotTakenForUnset) {
  EXPECT_REFUSED(resolve_tp_dp(4, 1, 8), "tp 4 times dp 1 is not the 8 ranks");
  EXPECT_REFUSED(resolve_tp_dp(1, 1, 8), "is not the 8 ranks");
  EXPECT_REFUSED(resolve_tp_dp(1, 4, 8), "is not the 8 ranks");
  EXPECT_EQ(resolve_tp_dp(1, {}, 8), (TpDp{1, 8}));
}

TEST(ResolveTpDp, ResolvingAResultChangesNothing) {
  for (int64_t world = 1; world <= 12; ++world)
    for (int64_t tp = 1; tp <= world; ++tp) {
      if (world % tp != 0) continue;
      const TpDp once = resolve_tp_dp(tp, {}, world);
      EXPECT_EQ(resolve_tp_dp(once.tp, once.dp, world), once);
    }
}

TEST(ResolveTpDp, WhatDoesNotFitIsRefused) {
  EXPECT_REFUSED(resolve_tp_dp(3, {}, 8), "8 ranks do not divide by tp 3");
  EXPECT_REFUSED(resolve_tp_dp({}, 3, 8), "8 ranks do not divide by dp 3");
  EXPECT_REFUSED(resolve_tp_dp(0, {}, 8), "tp is 0");
  EXPECT_REFUSED(resolve_tp_dp({}, -1, 8), "dp is -1");
  EXPECT_REFUSED(resolve_tp_dp({}, {}, 0), "world of 0");
  EXPECT_REFUSED(resolve_tp_dp(int64_t{1} << 62, 4, 1), "is not the 1 ranks");
}

TEST(SplitGroups, AreTheReferenceOnes) {
  const auto g = split_groups(16, 4, 4);
  EXPECT_EQ(g.rows, (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}));
  EXPECT_EQ(g.columns, (Groups{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}}));
  EXPECT_EQ(split_groups(8, 1, 8).columns, (Groups{{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(split_groups(12, 3, 4).columns, (Groups{{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}}));
  EXPECT_EQ(split_groups(6, 2, 3).columns, (Groups{{0, 2, 4}, {1, 3, 5}}));
  EXPECT_TRUE(split_groups(16, 16, 1).columns.empty());
  EXPECT_EQ(split_groups(7, 1, 7).columns, (Groups{{0, 1, 2, 3, 4, 5, 6}}));
  EXPECT_TRUE(split_groups(1, 1, 1).columns.empty());
  // Two supergroups: what a world of 8 with tp 1, dp 4 means to the group builder.
  EXPECT_EQ(split_groups(8, 1, 4).columns, (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_REFUSED(split_groups(8, 2, 3), "do not divide by dp 3");
}

}  // namespace
}  // namespace intarsia
