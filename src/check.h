#pragma once
#include <c10/util/StringUtil.h>

#include <stdexcept>

namespace intarsia {

/// The caller's mistake: throws std::invalid_argument with the parts of `message` joined.
/// Name the thing, the value, the rule, and what would work.
template <class... Parts>
void check(bool ok, const Parts&... message) {
  if (!ok) throw std::invalid_argument(c10::str(message...));
}

}  // namespace intarsia
