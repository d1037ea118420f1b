#pragma once
#include <intarsia/group.h>

#include <array>
#include <cstdint>
#include <string>

#include "aten.h"

namespace intarsia {

enum class Op : int32_t { kAllReduce, kAllGather, kGather, kScatter, kBroadcast, kBarrier, kSplit };

/// What a rank tells its peers before data moves. Plain bytes of one size.
struct Header {
  static constexpr int kMaxDims = 16;

  int64_t sequence = 0;
  Op op = Op::kBarrier;
  int32_t detail = 0;  ///< all_reduce: Reduce; all_gather: dim; gather, scatter, broadcast: root
  int32_t dtype = -1;  ///< -1: no tensor
  int32_t dims = 0;
  std::array<int64_t, kMaxDims> sizes{};

  /// Takes dtype and shape of x; at most kMaxDims axes (the caller checks).
  void set_tensor(const at::Tensor& x);
  at::IntArrayRef shape() const { return {sizes.data(), static_cast<size_t>(dims)}; }
  at::ScalarType scalar_type() const { return static_cast<at::ScalarType>(dtype); }
  int64_t bytes() const;
  at::Tensor empty() const;  ///< a CPU tensor of this dtype and shape
};

const char* op_name(Op op);
std::string dtype_name(at::ScalarType dtype);

/// "#17 all_reduce float32 [4, 8]"
std::string describe(const Header& header);

/// Whether two ranks may go on together.
bool agree(const Header& a, const Header& b);

}  // namespace intarsia
