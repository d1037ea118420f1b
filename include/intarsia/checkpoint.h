#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/plan.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace intarsia {

/// What a checkpoint says of one tensor; nothing is read for it.
struct TensorInfo {
  at::ScalarType dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

/// Names → memory-mapped tensors of one or several safetensors files. Opening validates every
/// header completely (vae.md 1.14); reading touches only the pages of what is read.
class Checkpoint {
 public:
  /// path: a .safetensors file, a *.index.json, or a folder that holds one of
  /// {diffusion_pytorch_model,model}[.fp16].safetensors[.index.json]; for a folder without any, its
  /// subfolder `vae/`. Throws std::invalid_argument naming file and fault.
  static Checkpoint open(const std::filesystem::path& path);

  /// The folder's config.json beside the weights, or empty for a single file.
  const std::filesystem::path& config_path() const;
  const std::filesystem::path& path() const;
  /// `__metadata__` of the (first) file.
  const std::map<std::string, std::string>& metadata() const;

  bool contains(const std::string& name) const;
  const TensorInfo& info(const std::string& name) const;
  std::vector<std::string> names() const;  ///< sorted
  int64_t bytes() const;                   ///< of all tensors as stored

  /// A copy of the whole tensor as stored. Throws std::invalid_argument if it is missing (naming
  /// the nearest names that exist).
  at::Tensor read(const std::string& name) const;
  /// A copy of one part of it: only that part's bytes are touched.
  at::Tensor read(const std::string& name, const Shard& shard, int64_t part) const;
  /// A read-only view into the file, without a copy. Never write to it.
  at::Tensor view(const std::string& name) const;

  /// The same tensors under new names: `rename` maps stored → new name, empty leaves it out.
  Checkpoint renamed(const std::map<std::string, std::string>& rename) const;

 private:
  struct Impl;
  explicit Checkpoint(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace intarsia
