#include "io/npy.h"

#include <intarsia/tensor_file.h>

#include <algorithm>

#include "aten.h"
#include "check.h"
#include "io/atomic_file.h"
#include "io/byte_reader.h"
#include "io/dtypes.h"
#include "io/npy_header.h"
#include "io/sniff.h"

namespace intarsia {
namespace io {
namespace {

struct Descr {
  std::string_view code;  // without the byte order
  at::ScalarType dtype;
  size_t word;  // bytes that are swapped together
};

constexpr Descr kDescrs[] = {
    {"f2", at::kHalf, 2},         {"f4", at::kFloat, 4},          {"f8", at::kDouble, 8},
    {"i1", at::kChar, 1},         {"i2", at::kShort, 2},          {"i4", at::kInt, 4},
    {"i8", at::kLong, 8},         {"u1", at::kByte, 1},           {"u2", at::kUInt16, 2},
    {"u4", at::kUInt32, 4},       {"u8", at::kUInt64, 8},         {"b1", at::kBool, 1},
    {"c8", at::kComplexFloat, 4}, {"c16", at::kComplexDouble, 8},
};

const Descr& descr_of(const std::string& descr, const std::string& what) {
  check(descr.find('O') == std::string::npos, what,
        " holds Python objects (pickles), which are never read; save numbers");
  const bool ordered =
      !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string::npos;
  const auto code = std::string_view(descr).substr(ordered ? 1 : 0);
  const auto* found = std::find_if(std::begin(kDescrs), std::end(kDescrs),
                                   [&](const Descr& known) { return known.code == code; });
  check(found != std::end(kDescrs), what, " has dtype ", in_quotes(descr),
        ", which is not supported; supported are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 c8 c16");
  check(ordered && (descr[0] != '|' || found->word == 1), what, " has dtype ", in_quotes(descr),
        " without a byte order");
  return *found;
}

void swap_words(at::Tensor& tensor, size_t word) {
  auto* bytes = static_cast<char*>(tensor.data_ptr());
  for (size_t at = 0; at < tensor.nbytes(); at += word) std::reverse(bytes + at, bytes + at + word);
}

std::string_view header_text(ByteReader& reader) {
  reader.take(kNpyMagic.size());
  const auto major = reader.next<uint8_t>();
  reader.next<uint8_t>();
  check(major >= 1 && major <= 3, reader.what(), " has .npy version ", int{major},
        "; versions 1 to 3 are read");
  const uint64_t length = major == 1 ? reader.next<uint16_t>() : reader.next<uint32_t>();
  return reader.take(length);
}

}  // namespace

at::Tensor read_npy(std::string_view bytes, const std::string& what) {
  ByteReader reader(bytes, what);
  auto header = parse_npy_header(header_text(reader), what);
  const auto& descr = descr_of(header.descr, what);
  const auto needed = bytes_of(header.shape, static_cast<int64_t>(c10::elementSize(descr.dtype)));
  check(needed.has_value(), what, ": its shape is larger than 63 bits can count");
  const auto data = reader.take(static_cast<uint64_t>(*needed));
  check(reader.left() == 0, what, " has ", reader.left(), " bytes after its array");
  if (header.fortran_order) std::reverse(header.shape.begin(), header.shape.end());
  auto tensor = tensor_of(data, header.shape, descr.dtype, what);
  if (header.descr[0] == '>') swap_words(tensor, descr.word);
  if (!header.fortran_order) return tensor;
  std::vector<int64_t> axes(header.shape.size());
  std::generate(axes.begin(), axes.end(),
                [at = static_cast<int64_t>(axes.size())]() mutable { return --at; });
  return tensor.permute(axes).contiguous();
}

namespace {

// The types NumPy lacks are widened.
at::Tensor for_numpy(const at::Tensor& tensor) {
  const auto plain = tensor.detach().resolve_conj().resolve_neg().cpu();
  const auto dtype = plain.scalar_type();
  const bool foreign =
      dtype == at::kBFloat16 || dtype == at::kFloat8_e4m3fn || dtype == at::kFloat8_e5m2;
  return (foreign ? plain.to(at::kFloat) : plain).contiguous();
}

std::string descr_for(at::ScalarType dtype, const std::string& file) {
  const auto* found = std::find_if(std::begin(kDescrs), std::end(kDescrs),
                                   [&](const Descr& known) { return known.dtype == dtype; });
  check(found != std::end(kDescrs), "cannot write ", file, ": .npy cannot hold ", dtype);
  return (found->word == 1 ? "|" : "<") + std::string(found->code);
}

std::string preamble(const at::Tensor& tensor, const std::string& file) {
  std::string text = "{'descr': '" + descr_for(tensor.scalar_type(), file) +
                     "', 'fortran_order': False, 'shape': (";
  for (const auto extent : tensor.sizes()) text += std::to_string(extent) + ",";
  text += "), }";
  constexpr size_t kAlignment = 64;
  const size_t before = kNpyMagic.size() + 4;
  text.append(kAlignment - (before + text.size()) % kAlignment, ' ');
  text.back() = '\n';
  const auto length = static_cast<uint16_t>(text.size());
  return std::string(kNpyMagic) + std::string("\1\0", 2) +
         std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace
}  // namespace io

void write_npy(const std::filesystem::path& path, const at::Tensor& tensor) {
  check(tensor.defined(), "cannot write ", path.string(), ": the tensor is undefined");
  check(tensor.layout() == at::kStrided, "cannot write ", path.string(),
        ": the tensor is not dense");
  const auto plain = io::for_numpy(tensor);
  const auto header = io::preamble(plain, path.string());
  io::AtomicFile file(path);
  file.write(header.data(), header.size());
  if (plain.numel() > 0) file.write(plain.data_ptr(), plain.nbytes());
  file.commit();
}

}  // namespace intarsia
