#pragma once
#include <intarsia/checkpoint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/mapped_file.h"

namespace intarsia::io {

/// One tensor of a file and where it starts, in bytes from the file's first.
struct Stored {
  TensorInfo info;
  int64_t offset = 0;
};

/// A mapped file whose header was validated completely: every tensor lies inside, is as long as
/// dtype and shape say, and together they tile the buffer.
struct Safetensors {
  std::shared_ptr<const MappedFile> file;
  std::map<std::string, Stored> tensors;
  std::map<std::string, std::string> metadata;
};

/// Throws std::invalid_argument naming file and fault; a file that is something else is told so.
Safetensors open_safetensors(const std::filesystem::path& path);
Safetensors open_safetensors(std::shared_ptr<const MappedFile> file);

/// The tensor inside the file, not copied (copied where it is not aligned for its dtype).
at::Tensor view_of(const std::shared_ptr<const MappedFile>& file, const Stored& stored,
                   const std::string& name);
at::Tensor copy_of(const MappedFile& file, const Stored& stored, const std::string& name);
/// A copy of `ranges` of `axis`, one after the other; touches their bytes only.
at::Tensor copy_of(const MappedFile& file, const Stored& stored, const std::string& name,
                   int64_t axis, const std::vector<Range>& ranges);

}  // namespace intarsia::io
