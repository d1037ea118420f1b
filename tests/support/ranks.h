#pragma once
#include <gtest/gtest.h>
#include <intarsia/launch.h>

#include <chrono>
#include <functional>

namespace intarsia::test {

/// Ranks as threads with a timeout fit for tests; every failed EXPECT says which rank it was.
inline void run_ranks(int n, const std::function<void(Group&)>& body,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  launch::run(n,
              [&](Group& group) {
                SCOPED_TRACE("rank " + std::to_string(group.rank()) + " of " +
                             std::to_string(group.size()));
                body(group);
              },
              {.timeout = timeout, .threads_per_rank = 1});
}

/// A suite that runs over these rank counts: INTARSIA_RANKS(MySuite).
class Ranks : public testing::TestWithParam<int> {};
#define INTARSIA_RANKS(Suite) INSTANTIATE_TEST_SUITE_P(Ranks, Suite, testing::Values(1, 2, 3, 4, 8))

}  // namespace intarsia::test
