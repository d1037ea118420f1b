// The laws of a group over MPI, one process a rank: mpirun -np N mpi_check [gtest flags].
#include <gmock/gmock.h>
#include <intarsia/error.h>
#include <intarsia/launch.h>

#include <cmath>
#include <iostream>
#include <numeric>

#include "group/laws.h"
#include "group/mpi_group.h"
#include "support/tensors.h"

namespace intarsia::test {
namespace {

Group* world = nullptr;

at::Tensor rough(int r, int64_t count, at::ScalarType dtype) {
  return (randn({count}, 100 + r) * std::pow(10, r % 4)).to(dtype);
}

/// Bytes of which each says where it is from.
at::Tensor bytes_of(int rank, int64_t count) {
  const auto period = (at::arange(251, at::kInt) * 31 + rank * 7).to(at::kByte);
  return period.repeat({count / 251 + 1}).narrow(0, 0, count);
}

class MpiLaws : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Mpi, MpiLaws, testing::Range<size_t>(0, laws().size()),
                         [](const auto& param) { return laws()[param.param].name; });

TEST_P(MpiLaws, HoldInTheWorld) { laws()[GetParam()].hold(*world); }

TEST_P(MpiLaws, HoldInNestedGroups) {
  if (laws()[GetParam()].name == "disagreement_is_named_on_every_rank") {
    return;  // names ranks of the world: ErrorsOfNestedGroupsNameRanksOfTheWorld
  }
  Group half = world->split(world->rank() % 2, -world->rank());
  laws()[GetParam()].hold(half);
  Group pair = half.split(half.rank() / 2);
  laws()[GetParam()].hold(pair);
  world->barrier();
}

TEST(Mpi, OneRankAProcessAllOnThisHost) {
  EXPECT_TRUE(launch::under_mpi());
  EXPECT_EQ(world->process_size(), 1);
  EXPECT_EQ(world->local_size(), world->size());
  EXPECT_REFUSED(launch::run_mpi([](Group&) {}), "inside of run_mpi");
  EXPECT_REFUSED(launch::start(world->size() + 1, [](Group&) {}), "the launcher started");
}

TEST(Mpi, ErrorsOfNestedGroupsNameRanksOfTheWorld) {
  const int size = world->size();
  if (size < 3) return;
  const bool odd = world->rank() == size - 1;
  const Group part = world->split(world->rank() == 0 ? -1 : 0);
  if (world->rank() == 0) return;
  EXPECT_THAT([&] { part.all_reduce(at::zeros({odd ? 5 : 4})); },
              testing::ThrowsMessage<CommError>(testing::AllOf(
                  testing::HasSubstr("rank " + std::to_string(world->rank()) + ": all_reduce"),
                  testing::HasSubstr("rank 1 issues #1 all_reduce float32 [4]"),
                  testing::HasSubstr("rank " + std::to_string(size - 1) +
                                     " issues #1 all_reduce float32 [5]"))));
}

TEST(Mpi, ReductionsHaveTheBitsOfThreads) {
  for (auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kComplexFloat}) {
    for (int64_t count : {1, 900, 8192, 100003}) {
      at::Tensor of_threads;
      launch::run(world->size(), [&](Group& threads) {
        const auto sum = threads.all_reduce(rough(threads.rank(), count, dtype));
        if (threads.rank() == 0) of_threads = sum;
      });
      EXPECT_TENSOR_EQ(world->all_reduce(rough(world->rank(), count, dtype)), of_threads);
    }
  }
}

TEST(Mpi, SizesAroundTheLimitsArrive) {
  const int next = (world->rank() + 1) % world->size();
  const int last = (world->rank() + world->size() - 1) % world->size();
  for (int64_t count : {3647, 3648, 3649, 65536, 65537, 1 << 24, (1 << 24) + 1}) {
    world->send(bytes_of(world->rank(), count), next, count);
    EXPECT_TENSOR_EQ(world->recv(last, count), bytes_of(last, count));
    const auto sent = world->rank() == 0 ? bytes_of(9, count) : at::Tensor();
    EXPECT_TENSOR_EQ(world->broadcast(sent), bytes_of(9, count));
  }
}

TEST(Mpi, LargeTensorsArriveWhole) {
  constexpr int64_t kCount = (int64_t(70) << 20) + 13;  // some pieces and a rest
  const auto whole = world->broadcast(world->rank() == 0 ? bytes_of(0, kCount) : at::Tensor());
  EXPECT_TENSOR_EQ(whole, bytes_of(0, kCount));
  const int64_t share = kCount / world->size() + world->rank();
  std::vector<at::Tensor> parts;
  for (int r = 0; r < world->size(); ++r) parts.push_back(bytes_of(r, share + r - world->rank()));
  EXPECT_TENSOR_EQ(world->all_gather(parts[world->rank()]), at::cat(parts));
  const auto sum = world->all_reduce(at::ones({kCount / 4}));
  EXPECT_TRUE(sum.eq(world->size()).all().item<bool>());
}

TEST(Mpi, MessagesMayBeTakenInAnyOrderLongAfterTheyWereSent) {
  const int next = (world->rank() + 1) % world->size();
  const int last = (world->rank() + world->size() - 1) % world->size();
  for (int i = 0; i < 40; ++i) world->send(bytes_of(i, 50000 + i), next, i);
  for (int i = 0; i < 5; ++i) world->all_reduce(at::ones({100000}));
  for (int i = 39; i >= 0; --i) EXPECT_TENSOR_EQ(world->recv(last, i), bytes_of(i, 50000 + i));
}

TEST(Mpi, GroupsMayBeMadeWithoutEnd) {
  for (int i = 0; i < 300; ++i) {
    const Group part = world->split(world->rank() % (i % 3 + 1));
    EXPECT_EQ(part.all_reduce(at::ones({1})).item<float>(), part.size());
  }
}

/// A group of the whole world, at the level that collectives are made of.
std::shared_ptr<Transport> raw_transport() {
  std::vector<int> ranks(world->size());
  std::iota(ranks.begin(), ranks.end(), 0);
  auto whole = mpi::join_world(mpi::World::get(), ranks, world->rank(),
                               {.timeout = std::chrono::seconds(60)});
  static int64_t context = 1 << 20;  // far from those that split() gives
  return whole->child(ranks, ++context);
}

class MpiRawLaws : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Mpi, MpiRawLaws, testing::Range<size_t>(0, raw_laws().size()),
                         [](const auto& param) { return raw_laws()[param.param].name; });

TEST_P(MpiRawLaws, Hold) {
  raw_laws()[GetParam()].hold(*raw_transport());
  world->barrier();
}

/// Only rank 0 tells of what is well.
void quieten() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  struct Failures : testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) {
        std::cerr << "rank " << world->rank() << ": " << result.file_name() << ":"
                  << result.line_number() << ": " << result.message() << std::endl;
      }
    }
  };
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Failures);
}

int check_world(Group& group) {
  world = &group;
  if (group.rank() != 0) quieten();
  const int failed = RUN_ALL_TESTS();
  return group.all_reduce(at::full({1}, failed, at::kInt)).item<int>();
}

}  // namespace
}  // namespace intarsia::test

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  GTEST_FLAG_SET(catch_exceptions, false);  // a rank that goes on alone would diverge
  int failed = 0;
  try {
    const intarsia::launch::Options options{.timeout = std::chrono::seconds(60),
                                            .threads_per_rank = 1};
    intarsia::launch::run_mpi([&](auto& group) { failed = intarsia::test::check_world(group); },
                              options);
    for (int i = 0; i < 3; ++i) {  // further runs, which leave messages behind
      intarsia::launch::run_mpi(
          [&](auto& group) {
            for (int64_t n : {10, 100000})
              group.send(at::ones({n}), (group.rank() + 1) % group.size());
            failed += group.all_reduce(at::ones({1})).template item<float>() != group.size();
          },
          options);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    intarsia::launch::abandon(1);
  }
  return failed != 0;
}
