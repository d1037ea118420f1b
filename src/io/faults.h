#pragma once
#include <string>
#include <vector>

namespace intarsia::io {

/// Throws std::invalid_argument with the first dozen of what is wrong with the weights of a
/// checkpoint; returns if nothing is.
void check_faults(const std::string& checkpoint, const std::vector<std::string>& faults);

}  // namespace intarsia::io
