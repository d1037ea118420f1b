#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::io {

/// What the dict at the start of a .npy file says.
struct NpyHeader {
  std::string descr;  ///< such as "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Parses the Python dict literal. Throws std::invalid_argument naming `what` and the fault.
NpyHeader parse_npy_header(std::string_view text, const std::string& what);

}  // namespace intarsia::io
