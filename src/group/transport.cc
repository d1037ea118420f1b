#include "group/transport.h"

#include <algorithm>

namespace intarsia {

void Transport::fail_as(const Failure& failure) const {
  if (failure.rank != world_rank(rank_)) {
    fail(c10::str("rank ", failure.rank, " failed: ", failure.message));
  }
  const std::string prefix = c10::str(operation, ": ");
  const bool repeats = failure.message.starts_with(prefix);
  fail(repeats ? failure.message.substr(prefix.size()) : failure.message);
}

std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) text += c10::str(i ? ", " : "", ranks[i]);
  return text;
}

std::string without_rank(int rank, const std::string& message) {
  const std::string prefix = c10::str("rank ", rank, ": ");
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

std::string did_not_come(const std::vector<int>& ranks, const Header& mine,
                         std::chrono::milliseconds timeout) {
  return c10::str(name_ranks(ranks), " did not come to ", describe(mine), " within ",
                  timeout.count(), " ms");
}

std::string will_not_come(const std::vector<int>& ranks, const Header& mine) {
  return c10::str(name_ranks(ranks), ranks.size() == 1 ? " has" : " have",
                  " ended and will not come to ", describe(mine));
}

std::string no_message(int from, int64_t tag, bool ended, std::chrono::milliseconds timeout) {
  const std::string message = c10::str(" sent no message with tag ", tag);
  return ended ? c10::str("rank ", from, " has ended and", message)
               : c10::str("rank ", from, message, " within ", timeout.count(), " ms");
}

std::string sent_itself_nothing(int rank, int64_t tag) {
  return c10::str("rank ", rank, " has sent itself no message with tag ", tag);
}

std::chrono::steady_clock::time_point deadline_in(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kYears = std::chrono::hours(24 * 3650);  // no overflow
  return std::chrono::steady_clock::now() + std::min(timeout, kYears);
}

}  // namespace intarsia
