#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "group/transport.h"

namespace intarsia {

class ThreadHub;

/// The ranks of one process: who failed, who has ended, and the groups to wake then.
class ThreadWorld {
 public:
  explicit ThreadWorld(int size);

  int size() const { return size_; }

  /// Only the first failure counts. Wakes every waiting rank.
  void fail(int rank, const std::string& message);
  bool failed() const { return failed_.load(); }
  std::optional<Failure> failure() const;

  /// This rank will not come to anything any more.
  void end(int rank);
  bool ended(int rank) const { return ended_[rank].load(); }

  /// The group of these world ranks; the first that asks makes it.
  std::shared_ptr<ThreadHub> hub(const std::vector<int>& ranks, int64_t context);

 private:
  void wake_all();

  const int size_;
  const bool spins_;  // every rank has a core
  std::atomic<bool> failed_{false};
  std::vector<std::atomic<bool>> ended_;
  mutable std::mutex mutex_;  // never taken under the lock of a gate
  std::optional<Failure> failure_;
  std::map<std::pair<int64_t, int>, std::weak_ptr<ThreadHub>> hubs_;  // by context, first rank
};

std::shared_ptr<Transport> join_threads(const std::shared_ptr<ThreadWorld>& world, int rank,
                                        Transport::Settings settings);

}  // namespace intarsia
