#include "io/torch_file.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "aten.h"
#include "check.h"
#include "io/dtypes.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

using Kind = PickleNode::Kind;

constexpr uint64_t kLongestPickle = uint64_t{64} << 20;
constexpr int64_t kFreelyExpanded = int64_t{256} << 20;  // bytes an expanded tensor may become

struct Type {
  std::string_view storage;
  std::string_view dtype;
  at::ScalarType type;
};

constexpr Type kTypes[] = {
    {"torch.DoubleStorage", "torch.float64", at::kDouble},
    {"torch.FloatStorage", "torch.float32", at::kFloat},
    {"torch.HalfStorage", "torch.float16", at::kHalf},
    {"torch.BFloat16Storage", "torch.bfloat16", at::kBFloat16},
    {"torch.LongStorage", "torch.int64", at::kLong},
    {"torch.IntStorage", "torch.int32", at::kInt},
    {"torch.ShortStorage", "torch.int16", at::kShort},
    {"torch.CharStorage", "torch.int8", at::kChar},
    {"torch.ByteStorage", "torch.uint8", at::kByte},
    {"torch.BoolStorage", "torch.bool", at::kBool},
    {"torch.ComplexFloatStorage", "torch.complex64", at::kComplexFloat},
    {"torch.ComplexDoubleStorage", "torch.complex128", at::kComplexDouble},
    {"", "torch.uint16", at::kUInt16},
    {"", "torch.uint32", at::kUInt32},
    {"", "torch.uint64", at::kUInt64},
    {"", "torch.float8_e4m3fn", at::kFloat8_e4m3fn},
    {"", "torch.float8_e5m2", at::kFloat8_e5m2},
};

// The arguments of one rebuilt tensor, read out of the pickle with every kind checked.
class Arguments {
 public:
  Arguments(const Pickle& pickle, const PickleNode& node, std::string what)
      : pickle_(pickle), node_(node), what_(std::move(what)) {}

  size_t count() const { return node_.items.size(); }

  const PickleNode& get(size_t place, Kind kind) const {
    check(place < count(), what_, " is described by too few values");
    const auto& value = pickle_.nodes[node_.items[place]];
    check(value.kind == kind, what_, " is described by a value of a wrong kind");
    return value;
  }

  int64_t size(size_t place) const {
    const auto number = get(place, Kind::kInt).number;
    check(number >= 0, what_, " is described by the negative number ", number);
    return number;
  }

  std::vector<int64_t> sizes(size_t place) const {
    const Arguments list(pickle_, get(place, Kind::kTuple), what_);
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < list.count(); ++i) numbers.push_back(list.size(i));
    return numbers;
  }

  Arguments within(size_t place, Kind kind) const { return {pickle_, get(place, kind), what_}; }

  // v2 adds metadata that is only filled for conjugate and negative views; v3 adds a dtype.
  std::optional<std::string> own_dtype() const {
    if (count() <= 6) return std::nullopt;
    const auto& extra = pickle_.nodes[node_.items[6]];
    if (extra.kind == Kind::kGlobal) return extra.text;
    check(extra.items.empty(), what_,
          " is a lazy conjugate or negative view; save x.resolve_conj().resolve_neg()");
    return std::nullopt;
  }

  const std::string& what() const { return what_; }

 private:
  const Pickle& pickle_;
  const PickleNode& node_;
  std::string what_;
};

at::ScalarType dtype_of(const std::string& name, const std::string& what) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const Type& type) {
    return type.storage == name || type.dtype == name;
  });
  check(found != std::end(kTypes), what, " has type ", in_quotes(name), ", which is not supported");
  return found->type;
}

at::ScalarType dtype_of(const Arguments& tensor) {
  if (const auto own = tensor.own_dtype()) return dtype_of(*own, tensor.what());
  return dtype_of(tensor.within(0, Kind::kStorage).get(1, Kind::kGlobal).text, tensor.what());
}

// Elements from the storage's start to the tensor's last one; nothing if beyond 63 bits.
std::optional<int64_t> reach(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                             int64_t offset) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  return last == INT64_MAX ? std::nullopt : std::optional(last + 1);
}

struct Layout {
  at::ScalarType dtype;
  int64_t offset;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

// Everything that decides which bytes are read must fit the storage before a tensor is made.
Layout layout_of(const Arguments& tensor, uint64_t storage_bytes) {
  const Layout layout{dtype_of(tensor), tensor.size(1), tensor.sizes(2), tensor.sizes(3)};
  const auto& what = tensor.what();
  const auto item = static_cast<int64_t>(c10::elementSize(layout.dtype));
  check(layout.sizes.size() == layout.strides.size(), what, " has ", layout.sizes.size(),
        " extents and ", layout.strides.size(), " strides");
  const auto bytes = bytes_of(layout.sizes, item);
  check(bytes.has_value(), what, ": its shape is larger than 63 bits can count");
  if (*bytes == 0) return layout;
  const auto elements = static_cast<int64_t>(storage_bytes) / item;
  const auto end = reach(layout.sizes, layout.strides, layout.offset);
  check(end && *end <= elements, what, " of shape ", layout.sizes, ", strides ", layout.strides,
        " and offset ", layout.offset, " reaches beyond its storage of ", elements, " elements");
  check(*bytes <= std::max<int64_t>(static_cast<int64_t>(storage_bytes), kFreelyExpanded), what,
        " is expanded from ", storage_bytes, " to ", *bytes, " bytes; save it contiguous");
  return layout;
}

const ZipEntry& entry_of(const TorchFile& file, const std::string& name) {
  const auto found = file.zip.entries.find(file.prefix + name);
  check(found != file.zip.entries.end(), file.zip.what, " lacks its entry ",
        in_quotes(file.prefix + name));
  return found->second;
}

std::string_view storage_of(const TorchFile& file, const Arguments& tensor, std::string& buffer) {
  const auto storage = tensor.within(0, Kind::kStorage);
  check(storage.get(0, Kind::kText).text == "storage", tensor.what(), " has no storage");
  return read_entry(file.zip, entry_of(file, "data/" + storage.get(2, Kind::kText).text), buffer);
}

std::string prefix_of(const Zip& zip) {
  std::vector<std::string> found;
  for (const auto& [name, entry] : zip.entries) {
    const size_t slash = name.find('/');
    if (slash != std::string::npos && name.substr(slash) == "/data.pkl")
      found.push_back(name.substr(0, slash + 1));
  }
  check(found.size() == 1, zip.what,
        " is a zip archive, but not one of torch.save; use .safetensors, .npy or torch.save");
  return found[0];
}

void check_byte_order(const TorchFile& file) {
  const auto found = file.zip.entries.find(file.prefix + "byteorder");
  if (found == file.zip.entries.end()) return;
  std::string buffer;
  check(found->second.size <= 16 && read_entry(file.zip, found->second, buffer) == "little",
        file.zip.what, " was saved on a big-endian machine, which is not read; save it as .npy");
}

std::string joined(const std::string& scope, const std::string& key) {
  return scope.empty() ? key : scope + "." + key;
}

// Names every tensor; each container is walked once, however often it is shared.
void collect(TorchFile& file, uint32_t id, const std::string& scope,
             std::unordered_set<uint32_t>& seen, int depth) {
  const auto& node = file.pickle.nodes[id];
  if (node.kind == Kind::kTensor) {
    check(file.tensors.emplace(scope, id).second, file.zip.what, " holds two tensors called ",
          in_quotes(scope));
    return;
  }
  const bool dict = node.kind == Kind::kDict;
  if (!dict && node.kind != Kind::kList && node.kind != Kind::kTuple) return;
  if (!seen.insert(id).second) return;
  check(depth < 32, file.zip.what, " is nested deeper than 32 levels");
  for (size_t i = dict ? 1 : 0; i < node.items.size(); i += dict ? 2 : 1) {
    const auto& key = file.pickle.nodes[node.items[dict ? i - 1 : i]];
    const auto word = !dict                     ? std::to_string(i)
                      : key.kind == Kind::kText ? key.text
                                                : std::to_string(key.number);
    collect(file, node.items[i], joined(scope, word), seen, depth + 1);
  }
}

}  // namespace

TorchFile open_torch_file(std::string_view bytes, const std::string& what) {
  TorchFile file{open_zip(bytes, what), {}, {}, {}};
  file.prefix = prefix_of(file.zip);
  check_byte_order(file);
  const auto& entry = entry_of(file, "data.pkl");
  check(entry.size <= kLongestPickle, what, ": its pickle of ", entry.size,
        " bytes is longer than the limit of ", kLongestPickle);
  std::string buffer;
  file.pickle = read_pickle(read_entry(file.zip, entry, buffer), what);
  std::unordered_set<uint32_t> seen;
  collect(file, file.pickle.root, "", seen, 0);
  return file;
}

at::Tensor read_torch_tensor(const TorchFile& file, const std::string& name) {
  const auto& node = file.pickle.nodes[file.tensors.at(name)];
  const Arguments arguments(file.pickle, node, file.zip.what + ": tensor " + in_quotes(name));
  std::string buffer;
  const auto bytes = storage_of(file, arguments, buffer);
  const auto layout = layout_of(arguments, bytes.size());
  const auto options = at::TensorOptions().dtype(layout.dtype);
  if (std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end())
    return at::empty(layout.sizes, options);
  const auto item = static_cast<int64_t>(c10::elementSize(layout.dtype));
  const auto elements = static_cast<int64_t>(bytes.size()) / item;
  const auto storage = tensor_of(bytes.substr(0, static_cast<size_t>(elements * item)), {elements},
                                 layout.dtype, arguments.what());
  // A lone tensor's own storage is given away as it is; a view into a larger one is cut out.
  const auto tensor = storage.as_strided(layout.sizes, layout.strides, layout.offset);
  return tensor.is_contiguous() && tensor.numel() == elements
             ? tensor
             : tensor.clone(at::MemoryFormat::Contiguous);
}

}  // namespace intarsia::io
