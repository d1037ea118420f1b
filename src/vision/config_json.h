#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace intarsia::vision {

/// A processor's JSON object, with messages that name file and key.
struct ConfigJson {
  std::string file;
  nlohmann::json object;

  /// Absent and null are the same.
  bool has(const std::string& key) const {
    return object.contains(key) && !object.at(key).is_null();
  }
  /// value stays if the key is absent. Throws std::invalid_argument if its type is another, or a
  /// number has a fraction and should not.
  void read(const std::string& key, bool& value) const;
  void read(const std::string& key, int64_t& value) const;
  void read(const std::string& key, double& value) const;
  void read(const std::string& key, std::string& value) const;
  void read(const std::string& key, std::array<double, 3>& value) const;  // also one for all
};

/// The object for pictures (inner: "image_processor") or videos ("video_processor"): `path` itself,
/// or file `name` in the folder, or what processor_config.json has under `inner`. Empty if a folder
/// has none of these.
std::optional<ConfigJson> find_config(const std::filesystem::path& path, const std::string& name,
                                      const std::string& inner);

}  // namespace intarsia::vision
