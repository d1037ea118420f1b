#include "io/json.h"

#include <unordered_set>
#include <vector>

#include "check.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

using nlohmann::json;

constexpr int kDeepest = 64;

// Watches the parser: keys of each open object, and how deep it is.
class Watch {
 public:
  explicit Watch(const std::string& what) : what_(what) {}

  bool operator()(int depth, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    check(depth <= kDeepest, what_, ": JSON is nested deeper than ", kDeepest, " levels");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      check(keys_.back().insert(key).second, what_, ": the key ", in_quotes(key), " stands twice");
    }
    return true;
  }

 private:
  const std::string& what_;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

json parse_json(std::string_view text, const std::string& what) {
  Watch watch(what);
  try {
    return json::parse(text, [&](int depth, json::parse_event_t event, json& value) {
      return watch(depth, event, value);
    });
  } catch (const json::exception& error) {
    check(false, what, ": not valid JSON: ", std::string(error.what()).substr(0, 200));
  }
  return {};
}

}  // namespace intarsia::io
