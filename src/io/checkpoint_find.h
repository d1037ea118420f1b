#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace intarsia::io {

/// Where a checkpoint's tensors are.
struct CheckpointFiles {
  std::filesystem::path path;                 ///< the weights file, or the index, that was found
  std::filesystem::path config;               ///< config.json beside it; empty if there is none
  std::vector<std::filesystem::path> shards;  ///< in the order of their names
  std::map<std::string, std::string> weight_map;  ///< tensor → shard, of an index only
};

/// Finds them for a file, an index or a folder (see Checkpoint::open). No weights are opened.
/// Throws std::invalid_argument naming what was found instead.
CheckpointFiles find_checkpoint(const std::filesystem::path& path);

}  // namespace intarsia::io
