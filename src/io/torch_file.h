#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <string_view>

#include "io/pickle.h"
#include "io/zip.h"

namespace intarsia::io {

/// A file of torch.save (its zip form): the tensors of its value by name. A lone tensor is "",
/// those inside dicts and lists are called by their keys and places, joined by '.'. Other values
/// are left out. Nothing of it is run.
struct TorchFile {
  Zip zip;
  std::string prefix;  ///< of every entry's name, such as "archive/"
  Pickle pickle;
  std::map<std::string, uint32_t> tensors;  ///< name → node of the pickle
};

/// `bytes` must outlive the result. Throws std::invalid_argument naming `what`.
TorchFile open_torch_file(std::string_view bytes, const std::string& what);

/// A contiguous copy. Throws std::invalid_argument if sizes, strides or offset leave the storage.
at::Tensor read_torch_tensor(const TorchFile& file, const std::string& name);

}  // namespace intarsia::io
