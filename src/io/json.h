#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace intarsia::io {

/// Parses JSON from a file that nobody vouches for: refuses duplicate keys and deep nesting.
/// what: names the text in the message of the std::invalid_argument ("x.json").
nlohmann::json parse_json(std::string_view text, const std::string& what);

}  // namespace intarsia::io
