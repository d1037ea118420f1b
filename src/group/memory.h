#pragma once
#include <cstdint>

namespace intarsia {

/// Bytes this process may still take: what the machine (or its cgroup) has free.
int64_t free_memory();
/// Bytes this process holds now, and at its peak so far (resident set). 0 where unknown.
int64_t resident_memory();
int64_t peak_memory();

}  // namespace intarsia
