#include <memory>
#include <thread>

#include "group/laws.h"
#include "group/threads.h"
#include "support/ranks.h"
#include "support/tensors.h"

namespace intarsia::test {
namespace {

class Laws : public testing::TestWithParam<std::tuple<int, size_t>> {};

TEST_P(Laws, HoldOnThreads) {
  const auto& [ranks, law] = GetParam();
  run_ranks(ranks, laws()[law].hold);
}

INSTANTIATE_TEST_SUITE_P(Group, Laws,
                         testing::Combine(testing::Values(1, 2, 3, 4, 8),
                                          testing::Range<size_t>(0, laws().size())),
                         [](const auto& param) {
                           return laws()[std::get<1>(param.param)].name + "_" +
                                  std::to_string(std::get<0>(param.param));
                         });

class RawLaws : public testing::TestWithParam<std::tuple<int, size_t>> {};

TEST_P(RawLaws, HoldOnThreads) {
  const auto& [ranks, law] = GetParam();
  auto world = std::make_shared<ThreadWorld>(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank, index = law] {
      raw_laws()[index].hold(*join_threads(world, rank, {.timeout = std::chrono::seconds(60)}));
    });
  }
  for (auto& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Group, RawLaws,
                         testing::Combine(testing::Values(1, 2, 3, 8),
                                          testing::Range<size_t>(0, raw_laws().size())),
                         [](const auto& param) {
                           return raw_laws()[std::get<1>(param.param)].name + "_" +
                                  std::to_string(std::get<0>(param.param));
                         });

}  // namespace
}  // namespace intarsia::test
