#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace intarsia::io {

/// safetensors' name of a dtype ("BF16"), and back; nothing where there is none.
std::optional<at::ScalarType> dtype_of(std::string_view name);
std::optional<std::string> name_of(at::ScalarType dtype);
/// All names, for messages.
std::string dtype_names();

/// Bytes of a tensor. Nothing if an extent is negative, there are more than 64 axes, or the size
/// (with extents of 0 counted as 1, as strides do) is beyond 63 bits.
std::optional<int64_t> bytes_of(std::span<const int64_t> shape, int64_t item);

/// A fresh contiguous tensor with these bytes (exactly as many as shape and dtype need). Throws
/// std::invalid_argument naming `what` if a bool is neither 0 nor 1.
at::Tensor tensor_of(std::string_view bytes, at::IntArrayRef shape, at::ScalarType dtype,
                     const std::string& what);

/// Throws std::invalid_argument if dtype is bool and a byte is neither 0 nor 1 (reading such a bool
/// is undefined behaviour).
void check_bools(std::string_view bytes, at::ScalarType dtype, const std::string& what);

}  // namespace intarsia::io
