#include "io/safetensors.h"

#include <algorithm>
#include <cstring>

#include "aten.h"
#include "check.h"
#include "io/dtypes.h"
#include "io/json.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

using nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLongestHeader = 100'000'000;

// The JSON text: 8 bytes of length, then that many bytes.
std::string_view header_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), std::min<size_t>(bytes.size(), kLengthBytes));
  const bool fits = bytes.size() > kLengthBytes && length <= bytes.size() - kLengthBytes;
  if (fits && length > 0 && bytes[kLengthBytes] == '{' && length <= kLongestHeader)
    return bytes.substr(kLengthBytes, length);
  const std::string other = looks_like(bytes);
  const bool starts = bytes.size() > kLengthBytes && bytes[kLengthBytes] == '{';
  check(starts || other.empty(), file.name(), " is not a safetensors file: it is ", other);
  check(bytes.size() > kLengthBytes, file.name(), " is truncated: ", bytes.size(),
        " bytes hold no safetensors header");
  check(length > 0, file.name(), " is not a safetensors file: its header has length 0");
  check(length <= kLongestHeader, file.name(), " is not a safetensors file: its header would be ",
        length, " bytes long; the format ends at ", kLongestHeader);
  check(fits, file.name(), " is truncated: its header of ", length,
        " bytes does not fit into a file of ", bytes.size());
  check(false, file.name(), " is not a safetensors file: its header does not start with '{'");
  return {};
}

int64_t integer(const json& value, const std::string& what) {
  check(value.is_number_integer(), what, " is not a whole number");
  check(!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX}, what, " is ",
        value.dump(), ", beyond 63 bits");
  const auto number = value.get<int64_t>();
  check(number >= 0, what, " is ", number, "; negative numbers have no meaning there");
  return number;
}

const json& field(const json& entry, const char* key, const std::string& what) {
  const auto found = entry.find(key);
  check(found != entry.end(), what, " has no '", key, "'");
  return *found;
}

std::vector<int64_t> shape_in(const json& entry, const std::string& what) {
  const auto& list = field(entry, "shape", what);
  check(list.is_array(), what, ": its shape is not a list");
  check(list.size() <= 64, what, " has ", list.size(), " axes; at most 64 are read");
  std::vector<int64_t> shape;
  for (const auto& extent : list)
    shape.push_back(integer(extent, what + ": an extent of its shape"));
  return shape;
}

at::ScalarType dtype_in(const json& entry, const std::string& what) {
  const auto& name = field(entry, "dtype", what);
  check(name.is_string(), what, ": its dtype is not a text");
  const auto dtype = dtype_of(name.get_ref<const std::string&>());
  check(dtype.has_value(), what, " has dtype ", in_quotes(name.get_ref<const std::string&>()),
        ", which is not supported; supported are ", dtype_names());
  return *dtype;
}

// `size`: bytes of the buffer behind the header, which starts at `base`.
Stored entry_in(const json& entry, const std::string& what, int64_t base, int64_t size) {
  check(entry.is_object(), what, " is not described by an object");
  Stored stored{{dtype_in(entry, what), shape_in(entry, what)}};
  const auto& offsets = field(entry, "data_offsets", what);
  check(offsets.is_array() && offsets.size() == 2, what, ": data_offsets are not two numbers");
  const int64_t begin = integer(offsets[0], what + ": its first data offset");
  const int64_t end = integer(offsets[1], what + ": its second data offset");
  check(begin <= end, what, ": data offsets [", begin, ", ", end, ") run backwards");
  check(end <= size, what, " ends at byte ", end, " of a buffer of ", size,
        "; the file is truncated or its header is wrong");
  const auto bytes =
      bytes_of(stored.info.shape, static_cast<int64_t>(c10::elementSize(stored.info.dtype)));
  check(bytes.has_value(), what, ": shape ", stored.info.shape,
        " is larger than 63 bits can count");
  check(*bytes == end - begin, what, ": ", stored.info.shape, " of ", stored.info.dtype, " is ",
        *bytes, " bytes, but its data offsets hold ", end - begin);
  stored.info.bytes = *bytes;
  stored.offset = base + begin;
  return stored;
}

// No hole, no overlap, no bytes left over.
void check_tiling(const Safetensors& file, int64_t base, int64_t size) {
  std::vector<std::tuple<int64_t, int64_t, std::string_view>> spans;
  for (const auto& [name, stored] : file.tensors)
    spans.emplace_back(stored.offset - base, stored.offset - base + stored.info.bytes, name);
  std::sort(spans.begin(), spans.end());
  int64_t at = 0;
  for (const auto& [begin, end, name] : spans) {
    check(begin >= at, file.file->name(), ": tensor ", in_quotes(name),
          " overlaps the one before it");
    check(begin == at, file.file->name(), ": bytes [", at, ", ", begin,
          ") of the buffer belong to no tensor");
    at = end;
  }
  check(at == size, file.file->name(), ": the last ", size - at, " bytes belong to no tensor");
}

std::map<std::string, std::string> metadata_in(const json& object, const std::string& file) {
  check(object.is_object(), file, ": __metadata__ is not an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    check(value.is_string(), file, ": __metadata__ ", in_quotes(key), " is not a text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

std::string_view bytes_of(const MappedFile& file, const Stored& stored) {
  return file.bytes().substr(static_cast<size_t>(stored.offset),
                             static_cast<size_t>(stored.info.bytes));
}

std::string named(const MappedFile& file, const std::string& name) {
  return file.name() + ": tensor " + in_quotes(name);
}

// A tensor's bytes with one more axis over the bytes of an element: any dtype, any alignment.
at::Tensor as_bytes(const char* data, std::vector<int64_t> shape, at::ScalarType dtype) {
  shape.push_back(static_cast<int64_t>(c10::elementSize(dtype)));
  return at::from_blob(const_cast<char*>(data), shape, at::kByte);
}

}  // namespace

Safetensors open_safetensors(const std::filesystem::path& path) {
  return open_safetensors(std::make_shared<const MappedFile>(path));
}

Safetensors open_safetensors(std::shared_ptr<const MappedFile> mapped) {
  Safetensors file{.file = std::move(mapped), .tensors = {}, .metadata = {}};
  const auto header = header_of(*file.file);
  const auto base = static_cast<int64_t>(kLengthBytes + header.size());
  const auto size = static_cast<int64_t>(file.file->bytes().size()) - base;
  const json entries = parse_json(header, file.file->name() + ": header");
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__")
      file.metadata = metadata_in(entry, file.file->name());
    else
      file.tensors[name] = entry_in(entry, named(*file.file, name), base, size);
  }
  check_tiling(file, base, size);
  return file;
}

at::Tensor view_of(const std::shared_ptr<const MappedFile>& file, const Stored& stored,
                   const std::string& name) {
  const auto bytes = bytes_of(*file, stored);
  const size_t item = c10::elementSize(stored.info.dtype);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % item != 0) return copy_of(*file, stored, name);
  file->check_whole();
  check_bools(bytes, stored.info.dtype, named(*file, name));
  return at::from_blob(
      const_cast<char*>(bytes.data()), stored.info.shape, [file](void*) {}, stored.info.dtype);
}

at::Tensor copy_of(const MappedFile& file, const Stored& stored, const std::string& name) {
  file.check_whole();
  return tensor_of(bytes_of(file, stored), stored.info.shape, stored.info.dtype, named(file, name));
}

at::Tensor copy_of(const MappedFile& file, const Stored& stored, const std::string& name,
                   int64_t axis, const std::vector<Range>& ranges) {
  file.check_whole();
  const auto dtype = stored.info.dtype;
  auto shape = stored.info.shape;
  shape[axis] = 0;
  for (const auto& range : ranges) shape[axis] += range.size();
  auto part = at::empty(shape, at::TensorOptions().dtype(dtype));
  if (part.numel() == 0) return part;
  const auto whole = as_bytes(bytes_of(file, stored).data(), stored.info.shape, dtype);
  auto target = as_bytes(static_cast<const char*>(part.data_ptr()), shape, dtype);
  int64_t at = 0;
  for (const auto& range : ranges) {
    target.narrow(axis, at, range.size()).copy_(whole.narrow(axis, range.begin, range.size()));
    at += range.size();
  }
  check_bools({static_cast<const char*>(part.data_ptr()), part.nbytes()}, dtype, named(file, name));
  return part;
}

}  // namespace intarsia::io
