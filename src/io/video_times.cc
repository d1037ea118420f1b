#include "io/video_times.h"

#include <cctype>
#include <cmath>

namespace intarsia::io {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Takes the digits in front, without leading zeros.
std::string_view take_number(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

void set_times(std::vector<double> seconds, double stated, VideoInfo& info) {
  const auto count = static_cast<double>(seconds.size());
  const double first = seconds.front(), length = seconds.back() - first;
  const double measured = seconds.size() > 1 && length > 0 ? (count - 1) / length : 0;
  const bool borne_out = measured == 0 || std::abs(stated - measured) < 0.01 * measured;
  info.rate = stated > 0 && borne_out ? stated : measured > 0 ? measured : 1;
  info.constant = true;
  for (size_t i = 0; i < seconds.size(); ++i) {
    seconds[i] -= first;
    // A tenth of a frame: timestamps are often rounded to milliseconds.
    if (measured > 0 && std::abs(seconds[i] * measured - double(i)) > 0.1) info.constant = false;
  }
  if (info.constant)
    for (size_t i = 0; i < seconds.size(); ++i) seconds[i] = double(i) / info.rate;
  info.times = std::move(seconds);
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

}  // namespace intarsia::io
