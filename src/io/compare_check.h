#pragma once
#include <cmath>

#include "aten.h"
#include "check.h"

namespace intarsia::io {

/// Two tensors that can be compared, and a signal's peak.
inline void check_pair(const at::Tensor& a, const at::Tensor& b, double peak) {
  check(a.defined() && b.defined(), "an undefined tensor cannot be compared");
  check(a.layout() == at::kStrided && b.layout() == at::kStrided && !a.is_quantized() &&
            !b.is_quantized(),
        "tensors to compare are dense and not quantized; convert them first");
  check(a.sizes() == b.sizes(), "tensors of the shapes ", a.sizes(), " and ", b.sizes(),
        " cannot be compared; the shapes have to be the same");
  check(peak > 0 && std::isfinite(peak), "the peak of a signal is a number above 0, not ", peak);
}

}  // namespace intarsia::io
