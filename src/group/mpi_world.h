#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "group/mpi_wire.h"

namespace intarsia::mpi {

/// What this process knows of its run: who has failed or ended, and what has come that nobody has
/// asked for yet. One a process.
class World {
 public:
  /// Starts MPI on the first call.
  static World& get();
  static bool exists();

  Wire& wire() { return wire_; }
  const Wire& wire() const { return wire_; }

  /// A run begins: frames of earlier ones are dropped, those of later ones kept until then.
  void begin();
  void end(bool cleanly);
  int run() const { return run_; }
  bool in_run(int run) const { return running_ && run == run_; }
  bool running() const { return running_; }
  /// The last run has ended, on all ranks.
  bool clean() const { return clean_; }

  /// Only the first failure counts. A failure of this rank is told to all others.
  void fail(const std::string& message);
  bool failed() const { return failures_.contains(run_); }
  std::optional<Failure> failure() const;

  /// This rank will not come to anything any more.
  void say_done();
  bool ended(int rank) const { return done_[rank] >= run_; }

  void poll();

  using Fact = std::function<bool()>;
  /// Polls, ever more rarely, until done(), a failure, `stop` or the deadline; true if done(). No
  /// deadline: for ever.
  bool wait(
      std::optional<std::chrono::steady_clock::time_point> deadline, const Fact& done,
      const Fact& stop = [] { return false; });

  using Key = std::tuple<int64_t, int64_t, int>;  // context, round or tag, sender
  std::map<Key, Arrived> meets;
  std::map<Key, std::deque<Arrived>> messages;

 private:
  explicit World(Wire& wire);
  void take(Arrived arrived);

  Wire& wire_;
  const bool spins_;  // every rank has a core
  int run_ = 0;
  bool running_ = false, clean_ = true;
  std::map<int, Failure> failures_;  // by run: a peer may be in the next one already
  std::vector<int> done_;            // the last run that each rank has ended
};

/// Groups of different runs have different contexts.
inline int64_t context_in(int run, int64_t context) { return (int64_t(run) << 40) + context; }
inline int run_of(int64_t context) { return static_cast<int>(context >> 40); }

}  // namespace intarsia::mpi
