#pragma once
#include <filesystem>
#include <optional>

namespace intarsia {

/// Cores the scheduler may put this thread on.
int affinity_cores();

/// How many cores' worth of time the control group grants; nothing if it is free. root: "/", or a
/// folder of the same form.
std::optional<double> cgroup_cores(const std::filesystem::path& root);

}  // namespace intarsia
