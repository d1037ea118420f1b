#include "group/header.h"

#include <algorithm>

namespace intarsia {

void Header::set_tensor(const at::Tensor& x) {
  dtype = static_cast<int32_t>(x.scalar_type());
  dims = static_cast<int32_t>(x.dim());
  std::copy(x.sizes().begin(), x.sizes().end(), sizes.begin());
}

int64_t Header::bytes() const {
  int64_t count = dtype < 0 ? 0 : static_cast<int64_t>(c10::elementSize(scalar_type()));
  for (int64_t size : shape()) count *= size;
  return count;
}

at::Tensor Header::empty() const { return at::empty(shape(), at::dtype(scalar_type())); }

const char* op_name(Op op) {
  switch (op) {
    case Op::kAllReduce:
      return "all_reduce";
    case Op::kAllGather:
      return "all_gather";
    case Op::kGather:
      return "gather";
    case Op::kScatter:
      return "scatter";
    case Op::kBroadcast:
      return "broadcast";
    case Op::kBarrier:
      return "barrier";
    case Op::kSplit:
      return "split";
  }
  return "unknown operation";
}

std::string dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble:
      return "float64";
    case at::kFloat:
      return "float32";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kShort:
      return "int16";
    case at::kChar:
      return "int8";
    case at::kByte:
      return "uint8";
    case at::kBool:
      return "bool";
    case at::kComplexFloat:
      return "complex64";
    case at::kComplexDouble:
      return "complex128";
    default:
      break;
  }
  std::string name = c10::toString(dtype);  // "UInt16", "Float8_e4m3fn"
  std::transform(name.begin(), name.end(), name.begin(), ::tolower);
  return name;
}

static std::string detail(const Header& header) {
  switch (header.op) {
    case Op::kAllGather:
      return c10::str(" along ", header.detail);
    case Op::kGather:
      return c10::str(" to rank ", header.detail);
    case Op::kScatter:
    case Op::kBroadcast:
      return c10::str(" from rank ", header.detail);
    default:
      return "";
  }
}

std::string describe(const Header& header) {
  const bool max = header.op == Op::kAllReduce && header.detail == int32_t(Reduce::kMax);
  std::string text = c10::str("#", header.sequence, " ", op_name(header.op), max ? "(max)" : "");
  if (header.dtype >= 0) {
    text += c10::str(" ", dtype_name(header.scalar_type()), " ", header.shape());
  }
  return text + detail(header);
}

static bool same_shape(const Header& a, const Header& b, int except) {
  if (a.dims != b.dims) return false;
  for (int i = 0; i < a.dims; ++i) {
    if (i != except && a.sizes[i] != b.sizes[i]) return false;
  }
  return true;
}

bool agree(const Header& a, const Header& b) {
  if (a.sequence != b.sequence || a.op != b.op || a.detail != b.detail) return false;
  switch (a.op) {
    case Op::kAllReduce:
      return a.dtype == b.dtype && same_shape(a, b, -1);
    case Op::kAllGather:
      return a.dtype == b.dtype && same_shape(a, b, a.detail);
    case Op::kGather:
      return a.dtype == b.dtype;
    default:
      return true;
  }
}

}  // namespace intarsia
