#include <ATen/Parallel.h>
#include <intarsia/compare.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "aten.h"
#include "check.h"
#include "io/compare_check.h"

namespace intarsia {
namespace {

constexpr int64_t kWindow = 11;
constexpr double kSigma = 1.5;
constexpr int64_t kRowsAtOnce = 32;  // a band of float64 copies, and the unit of parallel work
constexpr int kMoments = 5;          // a, b, a², b², ab

std::vector<double> gaussian(int64_t size) {
  std::vector<double> weights(static_cast<size_t>(size));
  const auto middle = static_cast<double>(size / 2);
  for (int64_t i = 0; i < size; ++i) {
    const double off = (static_cast<double>(i) - middle) / kSigma;
    weights[static_cast<size_t>(i)] = std::exp(-0.5 * off * off);
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  return weights;
}

using Moments = std::array<double, kMoments>;

void add_weighted(Moments& sum, double weight, const Moments& value) {
  for (size_t m = 0; m < kMoments; ++m) sum[m] += weight * value[m];
}

struct Window {
  std::vector<double> weights;
  int64_t channels;
  double c1, c2;

  double similarity(const Moments& m) const {
    const double spread = m[2] - m[0] * m[0] + m[3] - m[1] * m[1];
    const double together = m[4] - m[0] * m[1];
    return (2 * m[0] * m[1] + c1) * (2 * together + c2) /
           ((m[0] * m[0] + m[1] * m[1] + c1) * (spread + c2));
  }

  // The sum over the windows whose first row a and b point to. width: values in a row.
  double row(const double* a, const double* b, int64_t width, std::vector<Moments>& columns) const {
    for (int64_t x = 0; x < width; ++x) {
      Moments sum{};
      for (size_t i = 0; i < weights.size(); ++i) {
        const int64_t at = static_cast<int64_t>(i) * width + x;
        add_weighted(sum, weights[i], {a[at], b[at], a[at] * a[at], b[at] * b[at], a[at] * b[at]});
      }
      columns[static_cast<size_t>(x)] = sum;
    }
    double total = 0;
    const int64_t last = width - static_cast<int64_t>(weights.size() - 1) * channels;
    for (int64_t x = 0; x < last; ++x) {
      Moments sum{};
      for (size_t i = 0; i < weights.size(); ++i)
        add_weighted(sum, weights[i],
                     columns[static_cast<size_t>(x + static_cast<int64_t>(i) * channels)]);
      total += similarity(sum);
    }
    return total;
  }

  // The sum over the windows that begin in `count` rows from `first` on.
  double band(const at::Tensor& a, const at::Tensor& b, int64_t first, int64_t count) const {
    const int64_t rows = count + static_cast<int64_t>(weights.size()) - 1;
    const at::Tensor x = a.narrow(0, first, rows).to(at::kDouble).contiguous();
    const at::Tensor y = b.narrow(0, first, rows).to(at::kDouble).contiguous();
    const int64_t width = a.size(1) * channels;
    std::vector<Moments> columns(static_cast<size_t>(width));
    double total = 0;
    for (int64_t i = 0; i < count; ++i)
      total +=
          row(x.data_ptr<double>() + i * width, y.data_ptr<double>() + i * width, width, columns);
    return total;
  }
};

}  // namespace

double ssim(const at::Tensor& a_in, const at::Tensor& b_in, double peak) {
  io::check_pair(a_in, b_in, peak);
  check((a_in.dim() == 2 || a_in.dim() == 3) && a_in.numel() > 0 && !a_in.is_complex(),
        "structural similarity is for pictures [H, W, C] or [H, W], not ", a_in.sizes());
  const at::Tensor a = a_in.cpu(), b = b_in.cpu();
  const int64_t fits = std::min({kWindow, a.size(0), a.size(1)});
  const int64_t size = fits - (fits + 1) % 2;
  const Window window{gaussian(size), a.dim() == 3 ? a.size(2) : 1, std::pow(0.01 * peak, 2),
                      std::pow(0.03 * peak, 2)};
  const int64_t rows = a.size(0) - size + 1;
  std::vector<double> bands(static_cast<size_t>((rows + kRowsAtOnce - 1) / kRowsAtOnce));
  at::parallel_for(0, static_cast<int64_t>(bands.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kRowsAtOnce;
      bands[static_cast<size_t>(i)] = window.band(a, b, first, std::min(kRowsAtOnce, rows - first));
    }
  });
  const int64_t windows = rows * (a.size(1) - size + 1) * window.channels;
  return std::accumulate(bands.begin(), bands.end(), 0.0) / static_cast<double>(windows);
}

}  // namespace intarsia
