#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::io {

/// Up to `count` of `names` that need the fewest edits to become `name`, nearest first.
std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names,
                                 size_t count = 3);

/// "'a', 'b' and 5 more": the first `shown` of `names`.
std::string listed(const std::vector<std::string>& names, size_t shown = 8);

}  // namespace intarsia::io
