#include <intarsia/compare.h>

#include <cmath>
#include <limits>

#include "aten.h"
#include "check.h"
#include "io/compare_check.h"

namespace intarsia {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kElementsAtOnce = 1 << 20;  // so that float64 copies stay small

at::Tensor as_reals(const at::Tensor& x) {
  return x.is_complex() ? at::view_as_real(x.resolve_conj()) : x.resolve_neg();
}

double apart(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : kInfinity;
}

// What adds up over pieces of two tensors.
struct Sums {
  double largest = -1;
  int64_t where = 0;
  double total = 0;
  double squares = 0;
  int64_t unequal = 0;
  int64_t non_finite = 0;

  void add(const double* a, const double* b, int64_t count, int64_t first) {
    for (int64_t i = 0; i < count; ++i) {
      const double difference = apart(a[i], b[i]);
      if (difference > largest) {
        largest = difference;
        where = first + i;
      }
      total += difference;
      squares += difference * difference;
      unequal += difference != 0 ? 1 : 0;
      non_finite += std::isfinite(a[i]) && std::isfinite(b[i]) ? 0 : 1;
    }
  }
};

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.view(at::kByte).equal(b.view(at::kByte));
}

std::vector<int64_t> index_of(int64_t flat, at::IntArrayRef shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
    index[axis] = flat % shape[axis];
  return index;
}

// The steps between neighbours along axis 0 at one place, as a sum.
double step(const at::Tensor& x, int64_t at) {
  return (x[at + 1].to(at::kDouble) - x[at].to(at::kDouble)).abs().sum().item<double>();
}

struct Steps {
  double across = 0;
  double beside = 0;
  double count = 0;

  // Borders between the rows of x.
  void add(const at::Tensor& x, const std::vector<int64_t>& borders) {
    constexpr int64_t kFarthest = 3;
    for (const int64_t border : borders) {
      const int64_t at = border - 1;
      if (at < kFarthest || at >= x.size(0) - 1 - kFarthest) continue;
      across += step(x, at);
      for (const int64_t off : {-3, -2, 2, 3}) beside += step(x, at + off) / 4;
      count += static_cast<double>(x[0].numel());
    }
  }
};

}  // namespace

Difference compare(const at::Tensor& a_in, const at::Tensor& b_in, double peak) {
  io::check_pair(a_in, b_in, peak);
  check(a_in.is_complex() == b_in.is_complex(),
        "a complex tensor cannot be compared to a real one");
  const at::Tensor a = as_reals(a_in).cpu(), b = as_reals(b_in).cpu();
  const at::Tensor flat_a = a.reshape({-1}), flat_b = b.reshape({-1});
  Difference d;
  d.count = flat_a.numel();
  d.bit_equal = flat_a.scalar_type() == flat_b.scalar_type();
  Sums sums;
  for (int64_t first = 0; first < d.count; first += kElementsAtOnce) {
    const int64_t count = std::min(kElementsAtOnce, d.count - first);
    const at::Tensor x = flat_a.narrow(0, first, count).contiguous();
    const at::Tensor y = flat_b.narrow(0, first, count).contiguous();
    const at::Tensor wide_x = x.to(at::kDouble), wide_y = y.to(at::kDouble);
    d.bit_equal = d.bit_equal && same_bits(x, y);
    sums.add(wide_x.data_ptr<double>(), wide_y.data_ptr<double>(), count, first);
  }
  d.psnr = kInfinity;
  if (d.count == 0) return d;
  const auto count = static_cast<double>(d.count);
  d.largest = sums.largest;
  d.mean = sums.total / count;
  d.rmse = std::sqrt(sums.squares / count);
  if (d.rmse > 0) d.psnr = 20 * std::log10(peak / d.rmse);
  d.where = index_of(sums.where, a.sizes());
  d.unequal = sums.unequal;
  d.non_finite = sums.non_finite;
  return d;
}

double seam_figure(const at::Tensor& pixels, const std::vector<int64_t>& rows,
                   const std::vector<int64_t>& cols) {
  check(pixels.defined() && (pixels.dim() == 3 || pixels.dim() == 2),
        "seams are looked for in pixels [H, W, C] or [H, W]");
  Steps steps;
  steps.add(pixels, rows);
  steps.add(pixels.transpose(0, 1), cols);
  if (steps.count == 0) return std::numeric_limits<double>::quiet_NaN();
  if (steps.beside == 0) return steps.across == 0 ? 1 : kInfinity;
  return steps.across / steps.beside;
}

}  // namespace intarsia
