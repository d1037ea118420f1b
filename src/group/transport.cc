#include "group/transport.h"

#include <algorithm>

namespace intarsia {

std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) text += c10::str(i ? ", " : "", ranks[i]);
  return text;
}

std::string without_rank(int rank, const std::string& message) {
  const std::string prefix = c10::str("rank ", rank, ": ");
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

std::chrono::steady_clock::time_point deadline_in(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kYears = std::chrono::hours(24 * 3650);  // no overflow
  return std::chrono::steady_clock::now() + std::min(timeout, kYears);
}

}  // namespace intarsia
