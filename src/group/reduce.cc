#include "group/reduce.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace intarsia {
namespace {

constexpr int64_t kBlock = 4096;  // elements summed before the next are touched: stays in L1 and L2

template <class T>
constexpr bool is_complex = c10::is_complex<T>::value;
template <class T>
constexpr bool is_half = std::is_same_v<T, at::Half> || std::is_same_v<T, at::BFloat16>;
template <class T>
using Accumulator = std::conditional_t<is_half<T>, float, T>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a || b;
    } else if constexpr (std::is_integral_v<T>) {  // wraps, where a signed sum were undefined
      using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    } else {
      return a + b;
    }
  }
};

struct Max {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_complex<T>) {
      return a;  // refused by can_reduce
    } else {
      return (a > b || a != a) ? a : b;  // a NaN on either side stays
    }
  }
};

template <class T, class F>
void fold_block(const std::vector<const void*>& parts, T* out, int64_t start, int64_t count, F f) {
  std::array<Accumulator<T>, kBlock> sum;
  const T* first = static_cast<const T*>(parts[0]) + start;
  for (int64_t i = 0; i < count; ++i) sum[i] = static_cast<Accumulator<T>>(first[i]);
  for (size_t r = 1; r < parts.size(); ++r) {
    const T* part = static_cast<const T*>(parts[r]) + start;
    for (int64_t i = 0; i < count; ++i) sum[i] = f(sum[i], static_cast<Accumulator<T>>(part[i]));
  }
  for (int64_t i = 0; i < count; ++i) out[start + i] = static_cast<T>(sum[i]);
}

template <class T, class F>
void fold(const std::vector<const void*>& parts, void* out, int64_t count, F f) {
  for (int64_t start = 0; start < count; start += kBlock) {
    fold_block<T>(parts, static_cast<T*>(out), start, std::min(kBlock, count - start), f);
  }
}

/// Calls f with a value of the C++ type of dtype; false if sums of it are not defined.
template <class F>
bool with_type(at::ScalarType dtype, F f) {
  switch (dtype) {
#define INTARSIA_CASE(name, type) \
  case at::ScalarType::name:      \
    f(type{});                    \
    return true;
    INTARSIA_CASE(Double, double)
    INTARSIA_CASE(Float, float)
    INTARSIA_CASE(Half, at::Half)
    INTARSIA_CASE(BFloat16, at::BFloat16)
    INTARSIA_CASE(Long, int64_t)
    INTARSIA_CASE(Int, int32_t)
    INTARSIA_CASE(Short, int16_t)
    INTARSIA_CASE(Char, int8_t)
    INTARSIA_CASE(Byte, uint8_t)
    INTARSIA_CASE(UInt16, uint16_t)
    INTARSIA_CASE(UInt32, uint32_t)
    INTARSIA_CASE(UInt64, uint64_t)
    INTARSIA_CASE(Bool, bool)
    INTARSIA_CASE(ComplexFloat, c10::complex<float>)
    INTARSIA_CASE(ComplexDouble, c10::complex<double>)
#undef INTARSIA_CASE
    default:
      return false;
  }
}

}  // namespace

bool can_reduce(at::ScalarType dtype, Reduce op) {
  if (op == Reduce::kMax && c10::isComplexType(dtype)) return false;
  return with_type(dtype, [](auto) {});
}

void reduce(at::ScalarType dtype, Reduce op, const std::vector<const void*>& parts, void* out,
            int64_t count) {
  const bool known = with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    op == Reduce::kSum ? fold<T>(parts, out, count, Add{}) : fold<T>(parts, out, count, Max{});
  });
  TORCH_INTERNAL_ASSERT(known, "reduce: dtype was not checked");
}

}  // namespace intarsia
