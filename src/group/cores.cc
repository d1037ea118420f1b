#include "group/cores.h"

#include <intarsia/launch.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

namespace intarsia {

int affinity_cores() {
  for (int slots = 1024; slots <= (1 << 18);
       slots *= 2) {  // a kernel may know more than 1024 cores
    cpu_set_t* set = CPU_ALLOC(slots);
    const size_t bytes = CPU_ALLOC_SIZE(slots);
    const bool fits = sched_getaffinity(0, bytes, set) == 0;
    const int count = fits ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (fits) return count;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

static std::optional<double> quota_v2(const std::filesystem::path& folder) {
  std::ifstream file(folder / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return {};
  return std::atof(quota.c_str()) / period;
}

static std::optional<double> quota_v1(const std::filesystem::path& folder) {
  double quota = 0, period = 0;
  std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
  std::ifstream(folder / "cpu.cfs_period_us") >> period;
  if (quota <= 0 || period <= 0) return {};
  return quota / period;
}

/// The tightest quota of `group` (as /proc/self/cgroup names it) and of the groups around it.
template <class Quota>
static std::optional<double> tightest(const std::filesystem::path& mount, std::string group,
                                      Quota quota) {
  std::optional<double> least = quota(mount);  // in a container this is often the group itself
  for (; group.size() > 1; group.erase(group.rfind('/'))) {
    const auto here = quota(mount / group.substr(1));
    if (here && (!least || *here < *least)) least = here;
    if (group.rfind('/') == std::string::npos) break;
  }
  return least;
}

std::optional<double> cgroup_cores(const std::filesystem::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  std::optional<double> least;
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b" or "4:cpu,cpuacct:/a/b"
    std::stringstream fields(line);
    std::string number, controllers, group;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, group);
    std::optional<double> here;
    if (controllers.empty()) {
      here = tightest(root / "sys/fs/cgroup", group, quota_v2);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      here = tightest(root / "sys/fs/cgroup/cpu", group, quota_v1);
    }
    if (here && (!least || *here < *least)) least = here;
  }
  return least;
}

int launch::cores() {
  const double quota = cgroup_cores("/").value_or(std::numeric_limits<int>::max());
  return std::max(1, std::min(affinity_cores(), static_cast<int>(std::ceil(quota - 1e-6))));
}

}  // namespace intarsia
