// What becomes of the other ranks when one of a process fails. mpi_faults.sh is the same for MPI.
#include <intarsia/error.h>

#include <atomic>
#include <future>

#include "support/ranks.h"
#include "support/tensors.h"

namespace intarsia::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int kGuilty = 1;

class Faults : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Faults, testing::Values(2, 3, 4, 8));

at::Tensor some() { return at::ones({4, 8}); }

TEST_P(Faults, ARankThatThrowsEndsAllWithItsWordsAndItsTypeIsKept) {
  std::atomic<int> told{0};
  const auto body = [&](Group& group) {
    group.barrier();
    if (group.rank() == kGuilty) throw std::out_of_range("the disk is full");
    EXPECT_THAT([&] { group.all_reduce(some()); },
                ThrowsMessage<CommError>(
                    AllOf(HasSubstr("all_reduce"), HasSubstr("rank 1 failed: the disk is full"))));
    EXPECT_THROW(group.recv(kGuilty), CommError) << "and nothing works after that";
    EXPECT_THROW(group.send(some(), kGuilty), CommError);
    ++told;
  };
  EXPECT_THAT([&] { run_ranks(GetParam(), body); },
              ThrowsMessage<std::out_of_range>(HasSubstr("the disk is full")));
  EXPECT_EQ(told, GetParam() - 1);
}

TEST_P(Faults, ARankThatEndsEarlyIsNamedAtOnce) {
  std::atomic<int> told{0};
  const auto body = [&](Group& group) {
    group.barrier();
    if (group.rank() == kGuilty) return;
    EXPECT_THAT([&] { group.all_reduce(some()); },
                ThrowsMessage<CommError>(HasSubstr(
                    "rank 1 has ended and will not come to #2 all_reduce float32 [4, 8]")));
    ++told;
  };
  run_ranks(GetParam(), body, std::chrono::hours(1));
  EXPECT_EQ(told, GetParam() - 1);
}

TEST(Faults, ARankThatEndsWithoutSendingIsNamedAtOnce) {
  const auto body = [&](Group& group) {
    if (group.rank() == kGuilty) return group.send(some(), 0, 7);
    EXPECT_TENSOR_EQ(group.recv(kGuilty, 7), some());  // what it sent before still comes
    group.recv(kGuilty, 8);
  };
  EXPECT_THAT([&] { run_ranks(2, body, std::chrono::hours(1)); },
              ThrowsMessage<CommError>(
                  HasSubstr("rank 0: recv: rank 1 has ended and sent no message with tag 8")));
}

TEST_P(Faults, ARankThatIsLateIsNamedAfterTheTimeoutAndEndsToo) {
  std::promise<void> stuck;
  const auto come = stuck.get_future().share();
  std::string message;
  launch::Options options{.timeout = milliseconds(100), .threads_per_rank = 1};
  options.on_stuck = [&](const std::string& what) {  // here the command would end the process
    message = what;
    stuck.set_value();
  };
  const auto body = [&](Group& group) {
    if (group.rank() == kGuilty) come.wait();
    group.all_reduce(some());
  };
  const std::string late = "rank 1 did not come to #1 all_reduce float32 [4, 8] within 100 ms";
  EXPECT_THAT([&] { launch::run(GetParam(), body, options); },
              ThrowsMessage<CommError>(HasSubstr(late)));
  EXPECT_THAT(message, AllOf(HasSubstr("rank 1 has not ended 100 ms after rank "),
                             HasSubstr(" failed: all_reduce: " + late)));
}

TEST(Faults, ManyThatAreLateAreAllNamed) {
  std::promise<void> failed;
  const auto end = failed.get_future().share();
  const auto body = [&](Group& group) {
    if (group.rank() != 2) return end.wait();
    EXPECT_THAT(
        [&] { group.barrier(); },
        ThrowsMessage<CommError>(HasSubstr("ranks 0, 1, 3 did not come to #1 barrier within")));
    failed.set_value();
  };
  run_ranks(4, body, milliseconds(50));
}

TEST(Faults, AMessageThatDoesNotComeIsNamedAfterTheTimeout) {
  std::promise<void> failed;
  const auto end = failed.get_future().share();
  const auto body = [&](Group& group) {
    if (group.rank() == kGuilty) return end.wait();
    EXPECT_THAT([&] { group.recv(kGuilty, 5); },
                ThrowsMessage<CommError>(HasSubstr("rank 1 sent no message with tag 5 within")));
    failed.set_value();
  };
  run_ranks(2, body, milliseconds(50));
}

TEST(Faults, AMessageToOneselfMustHaveBeenSent) {
  for (int ranks : {1, 2}) {
    run_ranks(ranks, [](Group& group) {
      EXPECT_THAT([&] { group.recv(group.rank(), 3); },
                  ThrowsMessage<CommError>(HasSubstr("has sent itself no message with tag 3")));
    });
  }
}

TEST(Faults, AFailureReachesGroupsThatWereSplitOff) {
  const auto body = [&](Group& group) {
    Group half = group.split(group.rank() / 2);
    if (group.rank() == kGuilty) throw std::runtime_error("the disk is full");
    if (group.rank() == 3) half.recv(0);  // 2 never sends, 1 is in another group
    half.all_reduce(some());
  };
  EXPECT_THAT([&] { run_ranks(4, body, std::chrono::hours(1)); },
              ThrowsMessage<std::runtime_error>("the disk is full"));
}

TEST(Faults, UncheckedRanksThatBringOtherBytesGetAnErrorNotGarbage) {
  const auto body = [&](Group& group) {
    EXPECT_THAT([&] { group.all_reduce(at::ones({group.rank() + 1})); },
                ThrowsMessage<CommError>(HasSubstr("bytes, not")));
  };
  launch::run(2, body, {.timeout = std::chrono::seconds(60), .checked = false});
}

}  // namespace
}  // namespace intarsia::test
