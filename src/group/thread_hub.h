#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "group/gate.h"
#include "group/transport.h"

namespace intarsia {

/// What the ranks of one group of threads share.
///
/// Note [Whose memory is read when]: round k is complete when all ranks have met; only then does
/// anybody read a peer's offers, and each rank then comes to the end of its collective, also by an
/// exception, and waits there for all others. If a rank fails first the round never completes:
/// meet() refuses late comers under the same lock. So nobody reads what a peer has left behind.
class ThreadHub {
 public:
  ThreadHub(std::vector<int> world_ranks, bool may_spin)
      : ranks(std::move(world_ranks)), spins(may_spin), met(ranks.size()), inboxes(ranks.size()) {
    for (auto& slot : slots) slot.resize(ranks.size());
  }

  /// Wakes all who wait here, to look at the world again.
  void wake() {
    gate.wake();
    for (auto& inbox : inboxes) inbox.gate.wake();
  }

  struct Inbox {
    Gate gate;
    std::map<std::pair<int, int64_t>, std::deque<at::Tensor>> messages;  // by sender and tag
  };

  const std::vector<int> ranks;  // in the world
  const bool spins;              // every rank has a core

  Gate gate;
  std::vector<int64_t> met;                       // under gate: rounds each rank has come to
  int arrivals = 0, departures = 0;               // under gate
  std::atomic<int64_t> complete{0}, released{0};  // rounds all came to; collectives all have left
  // Offers of even and odd rounds: a rank may come to the next round while a peer still reads.
  std::array<std::vector<std::vector<Offer>>, 2> slots;

  std::vector<Inbox> inboxes;
};

}  // namespace intarsia
