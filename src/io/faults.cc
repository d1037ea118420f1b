#include "io/faults.h"

#include <algorithm>

#include "check.h"

namespace intarsia::io {

void check_faults(const std::string& checkpoint, const std::vector<std::string>& faults) {
  if (faults.empty()) return;
  std::string text = checkpoint + " does not fit its config: ";
  const size_t shown = std::min<size_t>(faults.size(), 12);
  for (size_t i = 0; i < shown; ++i) text += (i ? "; " : "") + faults[i];
  if (shown < faults.size()) text += c10::str("; and ", faults.size() - shown, " more");
  throw std::invalid_argument(text);
}

}  // namespace intarsia::io
