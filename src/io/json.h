#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "check.h"

namespace intarsia::io {

/// Parses JSON from a file that nobody vouches for: refuses duplicate keys and deep nesting.
/// what: names the text in the message of the std::invalid_argument ("x.json").
nlohmann::json parse_json(std::string_view text, const std::string& what);

/// A config's object, with messages that name file and key.
struct JsonReader {
  std::string file;
  nlohmann::json object;
  std::string within = "";  ///< in front of keys in messages, as "vision_config."

  /// Absent and null are the same.
  bool has(const char* key) const { return object.contains(key) && !object.at(key).is_null(); }

  /// value stays if the key is absent. Throws std::invalid_argument if it is of another type.
  template <typename T>
  void read(const char* key, T& value) const {
    if (!has(key)) return;
    try {
      value = object.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
      check(false, file, ": ", within, key, " is ", object.at(key).dump(), ", of a wrong type");
    }
  }
};

}  // namespace intarsia::io
