#include <intarsia/error.h>

#include <cstring>

#include "group/laws.h"
#include "group/round.h"
#include "support/tensors.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

at::Tensor bytes_of(int rank, int64_t count) {
  return (at::arange(count, at::kInt) * 31 + rank * 7).to(at::kByte);
}

/// A rank without memory for what it is offered, say: its peers end the collective all the same.
void what_a_rank_does_not_fetch_is_no_trouble_to_its_peers(Transport& transport) {
  for (const int64_t count : {10, 100000}) {
    const at::Tensor x = bytes_of(transport.rank(), count);
    for (int i = 0; i < 3; ++i) {
      Round round(transport, Op::kAllReduce, 0, x);
      round.meet(round.offer_all(x), false);
      if (transport.rank() == i) continue;
      const auto parts = round.fetch(std::vector<Room>(transport.size(), {nullptr, count}));
      EXPECT_EQ(std::memcmp(parts[0], bytes_of(0, count).const_data_ptr(), count), 0);
    }
  }
}

void ranks_out_of_step_are_named_with_both_numbers(Transport& transport) {
  const int last = transport.size() - 1;
  if (last == 0) return;
  if (transport.rank() == last) ++transport.sequence;
  Round round(transport, Op::kBarrier, 0, {});
  EXPECT_THAT(
      [&] { round.meet(round.offer_none(), false); },
      ThrowsMessage<CommError>(HasSubstr(c10::str("ranks disagree: rank 0 issues #1 ",
                                                  "barrier, rank ", last, " issues #2 barrier"))));
}

void other_numbers_of_bytes_are_refused_even_unchecked(Transport& transport) {
  if (transport.size() == 1) return;
  const at::Tensor x = bytes_of(0, 8);
  Round round(transport, Op::kAllReduce, 0, x);
  round.meet(round.offer_all(x), false);
  EXPECT_THAT(
      [&] {
        round.fetch(std::vector<Room>(transport.size(), {nullptr, 9}));
      },
      ThrowsMessage<CommError>(HasSubstr("rank 0 offers 8 bytes, not 9, with #1 ")));
}

}  // namespace

const std::vector<RawLaw>& raw_laws() {
  static const std::vector<RawLaw> all = {
      {"what_a_rank_does_not_fetch_is_no_trouble_to_its_peers",
       what_a_rank_does_not_fetch_is_no_trouble_to_its_peers},
      {"ranks_out_of_step_are_named_with_both_numbers",
       ranks_out_of_step_are_named_with_both_numbers},
      {"other_numbers_of_bytes_are_refused_even_unchecked",
       other_numbers_of_bytes_are_refused_even_unchecked},
  };
  return all;
}

}  // namespace intarsia::test
