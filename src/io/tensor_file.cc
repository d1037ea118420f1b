#include <intarsia/tensor_file.h>

#include <algorithm>

#include "aten.h"
#include "check.h"
#include "io/mapped_file.h"
#include "io/nearest.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/sniff.h"
#include "io/torch_file.h"

namespace intarsia {
namespace {

constexpr const char* kComfyLatent = "latent_tensor";
constexpr const char* kComfyMarker = "latent_format_version_0";
constexpr double kOldComfyScale = 1 / 0.18215;

template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// The tensor that is meant: the named one, or the only one.
std::string choose(const std::vector<std::string>& names, const std::string& name,
                   const std::string& file) {
  check(!names.empty(), file, " holds no tensor");
  if (name.empty()) {
    check(names.size() == 1, file, " holds several tensors; name one of ", io::listed(names, 20));
    return names.front();
  }
  const bool there = std::find(names.begin(), names.end(), name) != names.end();
  check(there, file, " has no tensor ", io::in_quotes(name), "; did you mean ",
        io::listed(io::nearest(name, names)));
  return name;
}

// ComfyUI marks its latents by an empty tensor, which is no choice of its own.
LoadedTensor from_safetensors(std::shared_ptr<const io::MappedFile> mapped,
                              const std::string& name) {
  auto file = io::open_safetensors(std::move(mapped));
  auto names = keys_of(file.tensors);
  const bool comfy = file.tensors.contains(kComfyLatent);
  if (comfy && name != kComfyMarker) std::erase(names, kComfyMarker);
  LoadedTensor loaded;
  loaded.name = choose(names, name, file.file->name());
  loaded.tensor = io::copy_of(*file.file, file.tensors.at(loaded.name), loaded.name);
  loaded.comfy_latent = loaded.name == kComfyLatent;
  if (loaded.comfy_latent && !file.tensors.contains(kComfyMarker))
    loaded.comfy_scale = kOldComfyScale;
  loaded.metadata = std::move(file.metadata);
  return loaded;
}

LoadedTensor from_torch(const io::MappedFile& mapped, const std::string& name) {
  const auto file = io::open_torch_file(mapped.bytes(), mapped.name());
  LoadedTensor loaded;
  loaded.name = choose(keys_of(file.tensors), name, mapped.name());
  loaded.tensor = io::read_torch_tensor(file, loaded.name);
  return loaded;
}

LoadedTensor from_npy(const io::MappedFile& mapped, const std::string& name) {
  check(name.empty(), mapped.name(), " is a .npy array, which has no names; leave ",
        io::in_quotes(name), " out");
  LoadedTensor loaded;
  loaded.tensor = io::read_npy(mapped.bytes(), mapped.name());
  return loaded;
}

// The first byte of a safetensors header; the other formats never have it there.
bool has_header(std::string_view bytes) { return bytes.size() > 8 && bytes[8] == '{'; }

bool is_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

}  // namespace

LoadedTensor read_tensor(const std::filesystem::path& path, const std::string& name) {
  auto file = std::make_shared<const io::MappedFile>(path);
  const auto bytes = file->bytes();
  if (bytes.starts_with(io::kNpyMagic)) return from_npy(*file, name);
  if (has_header(bytes)) return from_safetensors(std::move(file), name);
  if (bytes.starts_with("PK")) return from_torch(*file, name);
  check(!is_pickle(bytes), file->name(),
        " is a bare pickle (torch.save's form before 1.6), which is never read; save it again with "
        "torch.save of a newer torch, or as .safetensors or .npy");
  return from_safetensors(std::move(file), name);
}

std::map<std::string, at::Tensor> read_tensors(const std::filesystem::path& path) {
  const auto file = io::open_safetensors(path);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, stored] : file.tensors)
    tensors[name] = io::copy_of(*file.file, stored, name);
  return tensors;
}

}  // namespace intarsia
