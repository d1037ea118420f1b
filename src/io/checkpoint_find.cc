#include "io/checkpoint_find.h"

#include <algorithm>
#include <optional>
#include <set>

#include "check.h"
#include "io/json.h"
#include "io/mapped_file.h"
#include "io/nearest.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

namespace fs = std::filesystem;

// In the order they are looked for: whole precision before fp16, one file before shards.
constexpr const char* kKnownNames[] = {
    "diffusion_pytorch_model.safetensors",
    "diffusion_pytorch_model.safetensors.index.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "diffusion_pytorch_model.fp16.safetensors",
    "diffusion_pytorch_model.safetensors.index.fp16.json",
    "diffusion_pytorch_model.fp16.safetensors.index.json",
    "model.fp16.safetensors",
    "model.safetensors.index.fp16.json",
    "model.fp16.safetensors.index.json",
};

bool is_index(const fs::path& path) { return path.extension() == ".json"; }

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A shard is a plain file name: an index must not reach into other folders.
void check_shard_name(const std::string& name, const fs::path& index) {
  const bool plain = !name.empty() && name != "." && name != ".." &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  check(plain, index.string(), ": shard ", in_quotes(name),
        " is not a plain file name; shards stand beside their index");
}

std::map<std::string, std::string> weight_map_of(const fs::path& index) {
  const MappedFile file(index);
  const auto json = parse_json(file.bytes(), index.string());
  check(json.is_object() && json.contains("weight_map"), index.string(),
        " is not an index of shards: it has no weight_map; give the weights or their folder");
  const auto& map = json["weight_map"];
  check(map.is_object() && !map.empty(), index.string(), ": weight_map names no tensors");
  std::map<std::string, std::string> weights;
  for (const auto& [tensor, shard] : map.items()) {
    check(shard.is_string(), index.string(), ": the shard of ", in_quotes(tensor),
          " is not a text");
    weights[tensor] = shard.get<std::string>();
    check_shard_name(weights[tensor], index);
  }
  return weights;
}

CheckpointFiles of_index(const fs::path& index) {
  CheckpointFiles files{
      .path = index, .config = {}, .shards = {}, .weight_map = weight_map_of(index)};
  std::set<std::string> names;
  for (const auto& [tensor, shard] : files.weight_map) names.insert(shard);
  std::vector<std::string> missing;
  for (const auto& name : names) {
    files.shards.push_back(index.parent_path() / name);
    if (!is_there(files.shards.back())) missing.push_back(name);
  }
  check(missing.empty(), index.string(), ": ", missing.size(), " of ", names.size(),
        " shards are missing beside it: ", listed(missing));
  return files;
}

CheckpointFiles of_weights(const fs::path& path) {
  return is_index(path)
             ? of_index(path)
             : CheckpointFiles{.path = path, .config = {}, .shards = {path}, .weight_map = {}};
}

// config.json belongs to weights that are named as save_pretrained names them.
CheckpointFiles with_config(CheckpointFiles files) {
  const auto config = files.path.parent_path() / "config.json";
  if (is_there(config)) files.config = config;
  return files;
}

bool has_standard_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("diffusion_pytorch_model.") || name.starts_with("model.");
}

std::vector<std::string> names_ending(const fs::path& folder,
                                      const std::vector<std::string>& endings) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    if (std::any_of(endings.begin(), endings.end(),
                    [&](const auto& ending) { return name.ends_with(ending); }))
      names.push_back(name);
  }
  check(!error, "cannot read the folder ", folder.string(), ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<fs::path> known_weights(const fs::path& folder) {
  for (const auto* name : kKnownNames)
    if (is_there(folder / name)) return folder / name;
  return std::nullopt;
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  const auto others = names_ending(folder, {".bin", ".pth", ".pt", ".ckpt", ".pkl"});
  check(others.empty(), folder.string(), " holds only ", listed(others),
        ", and pickled weights are not read (they can run code); convert them: in Python, "
        "model.save_pretrained(folder, safe_serialization=True)");
  check(false, folder.string(),
        " holds no weights; expected diffusion_pytorch_model.safetensors, model.safetensors, their "
        ".index.json, or a subfolder vae/ with one");
  std::abort();
}

CheckpointFiles of_folder(const fs::path& folder, bool parent) {
  if (const auto known = known_weights(folder)) return with_config(of_weights(*known));
  std::error_code ignored;
  if (parent && fs::is_directory(folder / "vae", ignored)) return of_folder(folder / "vae", false);
  const auto indices = names_ending(folder, {".safetensors.index.json"});
  if (indices.size() == 1) return with_config(of_weights(folder / indices[0]));
  const auto files = names_ending(folder, {".safetensors"});
  check(files.size() <= 1, folder.string(), " holds several weights: ", listed(files),
        "; give one of these files");
  if (files.size() == 1) return with_config(of_weights(folder / files[0]));
  refuse_folder(folder);
}

}  // namespace

CheckpointFiles find_checkpoint(const fs::path& path) {
  check(!path.empty(), "no checkpoint given; give a .safetensors file, an index or a folder");
  std::error_code error;
  const auto status = fs::status(path, error);
  check(status.type() != fs::file_type::not_found, "there is no checkpoint at ", path.string());
  check(!error, "cannot read ", path.string(), ": ", error.message());
  if (fs::is_directory(status)) return of_folder(path, true);
  auto files = of_weights(path);
  return is_index(path) || has_standard_name(path) ? with_config(std::move(files)) : files;
}

}  // namespace intarsia::io
