#include "io/dtypes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "aten.h"
#include "check.h"

namespace intarsia::io {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

namespace {

struct Name {
  std::string_view name;
  at::ScalarType dtype;
};

constexpr Name kNames[] = {
    {"F64", at::kDouble},          {"F32", at::kFloat},        {"F16", at::kHalf},
    {"BF16", at::kBFloat16},       {"I64", at::kLong},         {"I32", at::kInt},
    {"I16", at::kShort},           {"I8", at::kChar},          {"U8", at::kByte},
    {"BOOL", at::kBool},           {"U16", at::kUInt16},       {"U32", at::kUInt32},
    {"U64", at::kUInt64},          {"C64", at::kComplexFloat}, {"F8_E4M3", at::kFloat8_e4m3fn},
    {"F8_E5M2", at::kFloat8_e5m2},
};

}  // namespace

std::optional<at::ScalarType> dtype_of(std::string_view name) {
  for (const auto& entry : kNames)
    if (entry.name == name) return entry.dtype;
  return std::nullopt;
}

std::optional<std::string> name_of(at::ScalarType dtype) {
  for (const auto& entry : kNames)
    if (entry.dtype == dtype) return std::string(entry.name);
  return std::nullopt;
}

std::string dtype_names() {
  std::string names;
  for (const auto& entry : kNames) names += (names.empty() ? "" : " ") + std::string(entry.name);
  return names;
}

std::optional<int64_t> bytes_of(std::span<const int64_t> shape, int64_t item) {
  constexpr size_t kMostAxes = 64;
  if (shape.size() > kMostAxes) return std::nullopt;
  int64_t bytes = item;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

void check_bools(std::string_view bytes, at::ScalarType dtype, const std::string& what) {
  if (dtype != at::kBool) return;
  const auto bad = std::find_if(bytes.begin(), bytes.end(),
                                [](char c) { return static_cast<unsigned char>(c) > 1; });
  check(bad == bytes.end(), what, ": element ", bad - bytes.begin(),
        " of a bool tensor is neither 0 nor 1");
}

at::Tensor tensor_of(std::string_view bytes, at::IntArrayRef shape, at::ScalarType dtype,
                     const std::string& what) {
  const auto needed = bytes_of(shape, static_cast<int64_t>(c10::elementSize(dtype)));
  check(needed && static_cast<uint64_t>(*needed) == bytes.size(), what, ": ", bytes.size(),
        " bytes are not those of a ", shape, " tensor of ", dtype);
  check_bools(bytes, dtype, what);
  auto tensor = at::empty(shape, at::TensorOptions().dtype(dtype));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace intarsia::io
