#pragma once
#include <intarsia/vision_input.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "io/picture_files.h"

namespace intarsia::test {

inline std::filesystem::path vision_data(const std::string& name) {
  return std::filesystem::path(INTARSIA_TEST_DATA) / "vision" / name;
}

inline nlohmann::json vision_json(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(vision_data(name)));
}

/// What transformers' processors work out; kind: "pictures", "videos", "samples".
inline nlohmann::json rules(const std::string& kind) { return vision_json("rules.json").at(kind); }

/// The sizes of the Qwen3-VL models that are published.
inline vision::ProcessorConfig qwen3_config() {
  vision::ProcessorConfig config;
  config.patch_size = 16;
  config.min_pixels = 65536;
  config.max_pixels = 16777216;
  config.mean = config.std = {0.5, 0.5, 0.5};
  return config;
}

}  // namespace intarsia::test
