#include <intarsia/plan.h>

#include <cmath>

#include "support/tensors.h"

namespace intarsia {
namespace {

using Tasks = std::vector<std::vector<int64_t>>;

std::vector<double> areas(int64_t h, int64_t w, int64_t tile, int64_t stride) {
  const TileRule rule = consistent_rule(tile, stride, {8, 1});
  return tile_grid(h, w, rule, rule).workloads();
}

double imbalance_of(const std::vector<double>& work, int64_t parts) {
  return imbalance(loads(work, balance(work, parts)));
}

TEST(Balance, GivesTheReferenceAssignments) {
  const std::vector<double> work{4096, 4096, 2048, 4096, 4096, 2048, 2048, 2048, 1024};
  EXPECT_EQ(areas(128, 128, 64, 48), work);
  auto two = balance(work, 2);
  EXPECT_EQ(loads(work, two), (std::vector<double>{13312, 12288}));
  for (auto& tasks : two) std::sort(tasks.begin(), tasks.end());
  EXPECT_EQ(two, (Tasks{{0, 2, 3, 6, 8}, {1, 4, 5, 7}}));
  EXPECT_EQ(balance(work, 4), (Tasks{{0, 2, 8}, {1, 5}, {3, 6}, {4, 7}}));
}

TEST(Balance, ReachesTheImbalancesOfTheSpecification) {
  struct Row {
    std::vector<double> work;
    double p2, p4, p8;
  };
  const std::vector<Row> rows{{areas(128, 128, 64, 48), 1.04, 1.12, 1.28},
                              {areas(144, 144, 128, 96), 1.06, 2.12, 4.23},
                              {areas(60, 104, 32, 24), 1.01, 1.04, 1.09},
                              {areas(90, 160, 32, 24), 1.01, 1.05, 1.06},
                              {areas(166, 166, 32, 24), 1.01, 1.03, 1.05}};
  for (const Row& row : rows) {
    EXPECT_NEAR(imbalance_of(row.work, 2), row.p2, 0.0051);
    EXPECT_NEAR(imbalance_of(row.work, 4), row.p4, 0.0051);
    EXPECT_NEAR(imbalance_of(row.work, 8), row.p8, 0.0051);
  }
}

TEST(Balance, EveryTaskIsGivenOnceAlsoWithMoreRanksThanTasks) {
  const std::vector<double> work{3, 1, 2};
  const auto given = balance(work, 8);
  ASSERT_EQ(given.size(), 8u);
  std::vector<int> seen(3);
  for (const auto& tasks : given)
    for (const int64_t t : tasks) ++seen[t];
  EXPECT_THAT(seen, testing::Each(1));
  EXPECT_EQ(balance({}, 3), Tasks(3));
}

TEST(Balance, TiesGoToTheLowestRankInTaskOrder) {
  const std::vector<double> work(5, 1.0);
  EXPECT_EQ(balance(work, 2), (Tasks{{0, 2, 4}, {1, 3}}));
}

TEST(Balance, NonsenseIsRefused) {
  EXPECT_REFUSED(balance({}, 0), "among 0 ranks");
  const std::vector<double> bad{1, std::nan("")};
  EXPECT_REFUSED(balance(bad, 2), "task 1 has a workload of nan");
}

}  // namespace
}  // namespace intarsia
