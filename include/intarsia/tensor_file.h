#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace intarsia {

using Metadata = std::map<std::string, std::string>;

/// A tensor out of a file, with what the file says of it.
struct LoadedTensor {
  at::Tensor tensor;          ///< contiguous, on the CPU, dtype as stored
  std::string name;           ///< its name in the file, "" where the format has none
  Metadata metadata;          ///< safetensors' __metadata__
  bool comfy_latent = false;  ///< a ComfyUI .latent (model space once `comfy_scale` is applied)
  double comfy_scale = 1.0;   ///< 1/0.18215 for a .latent without its version marker, else 1
};

/// Reads one tensor: .safetensors, ComfyUI .latent, .npy (f2/f4/f8/ints, either order), .pt/.pth
/// (torch.save's zip form, a tensor or a dict with one). The content decides, not the extension.
/// name: which tensor where there are several (empty: the only one; several → refused, listed).
/// Throws std::invalid_argument naming file and fault.
LoadedTensor read_tensor(const std::filesystem::path& path, const std::string& name = "");

/// All tensors of a safetensors file.
std::map<std::string, at::Tensor> read_tensors(const std::filesystem::path& path);

/// Writes safetensors, whole or not at all (beside, then renamed). Tensors of any strides.
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                       const Metadata& metadata = {});

/// Writes .npy (bf16 is widened to f32), whole or not at all.
void write_npy(const std::filesystem::path& path, const at::Tensor& tensor);

}  // namespace intarsia
