#include <intarsia/plan.h>

#include <algorithm>
#include <numeric>

#include "check.h"

namespace intarsia {

std::vector<std::vector<int64_t>> balance(std::span<const double> workloads, int64_t parts) {
  check(parts >= 1, "cannot share tasks among ", parts, " ranks; use 1 or more");
  for (size_t i = 0; i < workloads.size(); ++i)
    check(workloads[i] >= 0, "task ", i, " has a workload of ", workloads[i],
          "; workloads are 0 or more");
  std::vector<int64_t> order(workloads.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return workloads[a] > workloads[b]; });
  std::vector<std::vector<int64_t>> given(parts);
  std::vector<double> load(parts, 0.0);
  for (const int64_t task : order) {
    const auto least = std::min_element(load.begin(), load.end()) - load.begin();
    given[least].push_back(task);
    load[least] += workloads[task];
  }
  return given;
}

std::vector<double> loads(std::span<const double> workloads,
                          const std::vector<std::vector<int64_t>>& parts) {
  std::vector<double> sums;
  for (const auto& tasks : parts) {
    double sum = 0;
    for (const int64_t task : tasks) sum += workloads[task];
    sums.push_back(sum);
  }
  return sums;
}

double imbalance(std::span<const double> sums) {
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (total == 0) return 1;
  return *std::max_element(sums.begin(), sums.end()) * double(sums.size()) / total;
}

}  // namespace intarsia
