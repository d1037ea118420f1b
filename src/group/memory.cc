#include "group/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace intarsia {
namespace {

/// The number after `key` in a file of "Key:  123 kB" lines, in bytes; 0 if absent.
int64_t kilobytes(const char* file, const std::string& key) {
  std::ifstream in(file);
  std::string word;
  while (in >> word)
    if (word == key + ":") {
      int64_t value = 0;
      in >> value;
      return value * 1024;
    }
  return 0;
}

int64_t number_in(const char* file, int64_t otherwise) {
  std::ifstream in(file);
  int64_t value = 0;
  return in >> value ? value : otherwise;
}

}  // namespace

int64_t free_memory() {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t free = kilobytes("/proc/meminfo", "MemAvailable");
  if (free == 0) free = kNone;
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max", kNone);
  if (limit < kNone) free = std::min(free, limit - number_in("/sys/fs/cgroup/memory.current", 0));
  return std::max<int64_t>(free, 0);
}

int64_t resident_memory() { return kilobytes("/proc/self/status", "VmRSS"); }
int64_t peak_memory() { return kilobytes("/proc/self/status", "VmHWM"); }

}  // namespace intarsia
