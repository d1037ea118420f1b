#include <intarsia/plan.h>

#include "support/tensors.h"

namespace intarsia {
namespace {

TEST(EvenPart, PartsPartitionEveryExtent) {
  for (int64_t extent = 0; extent < 40; ++extent) {
    for (int64_t parts = 1; parts < 12; ++parts) {
      int64_t at = 0;
      for (int64_t p = 0; p < parts; ++p) {
        const Range r = even_part(extent, parts, p);
        EXPECT_EQ(r.begin, at);
        EXPECT_LE(r.size(), extent / parts + 1);
        at = r.end;
      }
      EXPECT_EQ(at, extent);
    }
  }
}

TEST(EvenPart, MorePartsThanExtentLeavesEmptyOnes) {
  EXPECT_TRUE(even_part(2, 4, 0).empty());
  EXPECT_EQ(even_part(2, 4, 1), (Range{0, 1}));
}

TEST(Shard, EachPackedSegmentIsCutAlike) {
  const Shard qkv{.axis = 0, .parts = 2, .segments = {8, 4, 4}};
  EXPECT_EQ(shard_ranges(qkv, 16, 1), (std::vector<Range>{{4, 8}, {10, 12}, {14, 16}}));
}

TEST(Shard, PartsCoverTheAxisOnce) {
  const Shard shard{.axis = 1, .parts = 3, .segments = {7, 5, 0, 2}};
  std::vector<int> seen(14);
  for (int64_t p = 0; p < 3; ++p)
    for (const Range& r : shard_ranges(shard, 14, p))
      for (int64_t i = r.begin; i < r.end; ++i) ++seen[i];
  EXPECT_THAT(seen, testing::Each(1));
}

TEST(Shard, SegmentsThatDoNotAddUpAreRefused) {
  EXPECT_REFUSED(shard_ranges({.segments = {3, 4}}, 8, 0), "segments add up to 7 on an axis of 8");
  EXPECT_REFUSED(even_part(4, 0, 0), "cannot cut into 0 parts");
}

}  // namespace
}  // namespace intarsia
