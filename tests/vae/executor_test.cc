#include <ATen/Parallel.h>
#include <intarsia/error.h>
#include <intarsia/executor.h>
#include <intarsia/plan.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "support/ranks.h"
#include "support/tensors.h"

namespace intarsia {
namespace {

/// Cuts the rows of a vector into `parts` tasks of uneven sizes, squares them, joins them.
Operator squares(int64_t parts) {
  Operator op;
  op.split = [parts](const at::Tensor& z) {
    Split s{.grid = {.split_dims = {0}, .grid_shape = {parts, 1}}};
    for (int64_t i = 0; i < parts; ++i) {
      const Range r = even_part(z.size(0), parts, i);
      s.tasks.push_back({.tile_id = i,
                         .grid_coord = {i, 0},
                         .tensor = {z.narrow(0, r.begin, r.size())},
                         .workload = double(r.size())});
    }
    return s;
  };
  op.exec = [](const TileTask& t) { return t.tensor[0] * t.tensor[0]; };
  op.merge = [](TileStream& tiles, const GridSpec&) {
    std::vector<at::Tensor> all;
    while (auto t = tiles.next()) {
      EXPECT_EQ(t->grid_coord[0], int64_t(all.size())) << "tiles come in row-major order";
      all.push_back(t->tensor);
    }
    return at::cat(all);
  };
  return op;
}

class ExecutorRanks : public test::Ranks {};
INTARSIA_RANKS(ExecutorRanks);

TEST_P(ExecutorRanks, GivesTheSameBitsForEveryNumberOfRanksAndTasks) {
  const at::Tensor z = test::randn({23, 3});
  for (const int64_t parts : {1, 2, 5, 23})
    for (const int workers : {1, 3})
      test::run_ranks(GetParam(), [&](Group& g) {
        const Executed done = execute(z, squares(parts), g, {.workers = workers});
        if (g.rank() == 0) {
          EXPECT_TENSOR_EQ(done.result, z * z);
        } else {
          EXPECT_EQ(done.result.numel(), 0);
        }
        int64_t tiles = 0;
        for (const RankReport& r : done.ranks) tiles += r.tiles;
        EXPECT_EQ(tiles, parts);
      });
}

TEST_P(ExecutorRanks, BroadcastGivesTheResultToAll) {
  const at::Tensor z = test::randn({7});
  test::run_ranks(GetParam(), [&](Group& g) {
    EXPECT_TENSOR_EQ(execute(z, squares(2), g, {.broadcast = true}).result, z * z);
  });
}

TEST_P(ExecutorRanks, AFailingTileFailsEveryRankByNameAndTheGroupLives) {
  const at::Tensor z = test::randn({12});
  Operator op = squares(6);
  op.exec = [](const TileTask& t) -> at::Tensor {
    if (t.tile_id == 4) throw std::runtime_error("the tile is broken");
    return t.tensor[0];
  };
  test::run_ranks(GetParam(), [&](Group& g) {
    EXPECT_THAT(
        [&] { execute(z, op, g); },
        testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
            testing::HasSubstr("rank "), testing::HasSubstr("tile 4: the tile is broken"))));
    const Executed done = execute(z, squares(6), g);
    if (g.rank() == 0) {
      EXPECT_TENSOR_EQ(done.result, z * z);
    }
  });
}

TEST_P(ExecutorRanks, AFailingMergeFailsEveryRank) {
  Operator op = squares(5);
  op.merge = [](TileStream& tiles, const GridSpec&) -> at::Tensor {
    tiles.next();
    throw std::runtime_error("no room");
  };
  const at::Tensor z = test::randn({12});
  test::run_ranks(GetParam(), [&](Group& g) {
    EXPECT_THAT([&] { execute(z, op, g); }, testing::ThrowsMessage<std::runtime_error>(
                                                testing::HasSubstr("rank 0: merge: no room")));
  });
}

TEST(Executor, RanksWithDifferentInputsAreRefusedEverywhere) {
  const std::vector<at::Tensor> inputs{test::randn({8}, 1), test::randn({8}, 1),
                                       test::randn({8}, 2)};
  test::run_ranks(3, [&](Group& g) {
    EXPECT_REFUSED(execute(inputs[g.rank()], squares(2), g),
                   "ranks 0 and 2 were given different inputs");
  });
}

TEST(Executor, MorePartsThanRanksUseTheGroupWithAWord) {
  const at::Tensor z = test::randn({8});
  test::run_ranks(2, [&](Group& g) {
    const Executed done = execute(z, squares(4), g, {.parts = 9});
    EXPECT_THAT(done.notes, testing::ElementsAre(testing::HasSubstr("9 parts asked for, 2 used")));
  });
}

TEST(Executor, FewerPartsLeaveRanksIdleThatStillTakePart) {
  const at::Tensor z = test::randn({8});
  test::run_ranks(4, [&](Group& g) {
    const Executed done = execute(z, squares(8), g, {.parts = 2, .broadcast = true});
    EXPECT_EQ(done.ranks[3].tiles, 0);
    EXPECT_EQ(done.ranks[0].tiles, 4);
    EXPECT_TENSOR_EQ(done.result, z * z);
  });
}

TEST(Executor, ResultsAreConvertedToTheOutputDtype) {
  const at::Tensor z = test::randn({8});
  Operator op = squares(2);
  const auto split = op.split;
  op.split = [split](const at::Tensor& x) {
    Split s = split(x);
    s.grid.output_dtype = at::kBFloat16;
    return s;
  };
  test::run_ranks(2, [&](Group& g) {
    const Executed done = execute(z, op, g, {.broadcast = true});
    EXPECT_EQ(done.result.scalar_type(), at::kBFloat16);
  });
}

TEST(Executor, OwnersMustGiveEveryTaskOnce) {
  const at::Tensor z = test::randn({8});
  Group solo = Group::solo();
  EXPECT_REFUSED(execute(z, squares(3), solo, {.owners = {{0, 1}}}), "task 2 is given to 0 ranks");
  EXPECT_REFUSED(execute(z, squares(2), solo, {.owners = {{0, 1, 5}}}), "no task 5");
  EXPECT_REFUSED(execute(z, squares(2), solo, {.owners = {{0}, {1}}}), "the group has 1");
  EXPECT_TENSOR_EQ(execute(z, squares(2), solo, {.owners = {{1, 0}}}).result, z * z);
}

TEST(Executor, WorkersComputeAtOnceEachWithItsOwnThreadCount) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> inside{0};
  Operator op = squares(2);
  op.exec = [&](const TileTask& t) {
    EXPECT_EQ(at::get_num_threads(), 3);
    EXPECT_TRUE(c10::InferenceMode::is_enabled()) << "the rank's mode is its workers' too";
    ++inside;
    while (inside < 2) std::this_thread::yield();  // both tasks are in flight
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return t.tensor[0];
  };
  test::run_ranks(
      1, [&](Group& g) { execute(at::ones({4}), op, g, {.workers = 2, .threads_per_tile = 3}); });
  EXPECT_EQ(threads.size(), 2u);
}

TEST(Executor, ProgressCountsEveryTile) {
  std::vector<int64_t> seen;
  Group solo = Group::solo();
  execute(at::ones({4}), squares(4), solo, {.progress = [&](int64_t done, int64_t total) {
            EXPECT_EQ(total, 4);
            seen.push_back(done);
          }});
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace intarsia
