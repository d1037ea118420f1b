#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace intarsia::io {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// The array of a whole .npy file: floats, complex, integers and bools of either byte order, stored
/// by rows or by columns. what: names the file in messages. Throws std::invalid_argument; objects,
/// records and texts are refused.
at::Tensor read_npy(std::string_view bytes, const std::string& what);

}  // namespace intarsia::io
