#include "vision/config_json.h"

#include "check.h"
#include "io/json.h"
#include "io/mapped_file.h"

namespace intarsia::vision {
namespace {

using nlohmann::json;

ConfigJson parse(const std::filesystem::path& path) {
  const io::MappedFile file(path);
  ConfigJson config{file.name(), io::parse_json(file.bytes(), file.name())};
  check(config.object.is_object(), config.file, " is not a JSON object");
  return config;
}

// processor_config.json holds one object a processor.
ConfigJson inside(ConfigJson config, const std::string& inner) {
  if (!config.has(inner)) return config;
  config.object = json(config.object.at(inner));
  config.file += " (" + inner + ")";
  check(config.object.is_object(), config.file, " is not a JSON object");
  return config;
}

void check_type(const ConfigJson& config, const std::string& key, bool right, const char* wanted) {
  check(right, config.file, ": ", key, " is ", config.object.at(key).dump(), "; it must be ",
        wanted);
}

}  // namespace

void ConfigJson::read(const std::string& key, bool& value) const {
  if (!has(key)) return;
  check_type(*this, key, object.at(key).is_boolean(), "true or false");
  value = object.at(key).get<bool>();
}

void ConfigJson::read(const std::string& key, int64_t& value) const {
  if (!has(key)) return;
  const json& number = object.at(key);
  constexpr double kLargest = 1LL << 52;
  const bool whole = number.is_number() && std::abs(number.get<double>()) <= kLargest &&
                     number.get<double>() == std::floor(number.get<double>());
  check_type(*this, key, whole, "a whole number");
  value = static_cast<int64_t>(number.get<double>());
}

void ConfigJson::read(const std::string& key, double& value) const {
  if (!has(key)) return;
  check_type(*this, key, object.at(key).is_number(), "a number");
  value = object.at(key).get<double>();
}

void ConfigJson::read(const std::string& key, std::string& value) const {
  if (!has(key)) return;
  check_type(*this, key, object.at(key).is_string(), "a string");
  value = object.at(key).get<std::string>();
}

void ConfigJson::read(const std::string& key, std::array<double, 3>& value) const {
  if (!has(key)) return;
  const json& list = object.at(key);
  const char* wanted = "three numbers, one a channel";
  if (list.is_number()) {
    value.fill(list.get<double>());
    return;
  }
  check_type(*this, key, list.is_array() && list.size() == 3, wanted);
  for (size_t c = 0; c < 3; ++c) {
    check_type(*this, key, list[c].is_number(), wanted);
    value[c] = list[c].get<double>();
  }
}

std::optional<ConfigJson> find_config(const std::filesystem::path& path, const std::string& name,
                                      const std::string& inner) {
  if (!std::filesystem::is_directory(path)) return inside(parse(path), inner);
  if (std::filesystem::exists(path / name)) return inside(parse(path / name), inner);
  const auto both = path / "processor_config.json";
  if (!std::filesystem::exists(both)) return std::nullopt;
  ConfigJson config = parse(both);
  if (!config.has(inner)) return std::nullopt;
  return inside(std::move(config), inner);
}

}  // namespace intarsia::vision
