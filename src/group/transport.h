#pragma once
#include <intarsia/error.h>
#include <intarsia/group.h>

#include <memory>
#include <string>
#include <vector>

#include "group/header.h"

namespace intarsia {

/// What this rank shows one peer: a header, and bytes that stay as they are until release().
struct Offer {
  Header header;
  const void* data = nullptr;
  int64_t bytes = 0;
};

/// Where the bytes of one peer shall go. `to` null: anywhere.
struct Room {
  void* to = nullptr;
  int64_t bytes = 0;
};

/// A failure that all ranks of a world share.
struct Failure {
  int rank;
  std::string message;
};

/// How bytes move between the ranks of one group: the few steps that every collective is made of.
///
///   meet(offers)  [fetch(rooms)]  [meet(offers)  fetch(rooms)]  release()
///
/// One thread uses a transport. Peers are named by their rank in the world.
class Transport {
 public:
  struct Settings {
    std::chrono::milliseconds timeout = std::chrono::minutes(10);
    bool checked = true;
  };

  Transport(std::vector<int> world_ranks, int rank, Settings settings)
      : world_ranks_(std::move(world_ranks)), rank_(rank), settings_(settings) {}
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(world_ranks_.size()); }
  int world_rank(int rank) const { return world_ranks_[rank]; }
  const Settings& settings() const { return settings_; }
  virtual int local_size() const = 0;
  /// Ranks of this group in this process.
  virtual int process_size() const { return 1; }

  /// Shows offers[r] to rank r and waits for all peers. Returns what each shows this rank; empty
  /// where headers are not wanted and the transport has none. Throws CommError.
  virtual std::vector<Header> meet(std::vector<Offer> offers, bool want_headers) = 0;

  /// After meet: brings the bytes rank r offers this rank to rooms[r].to. Returns where they lie,
  /// valid until release(). Throws CommError if a peer offers another number of bytes.
  virtual std::vector<const void*> fetch(const std::vector<Room>& rooms) = 0;

  /// Ends the round, also after an error: returns when no peer reads this rank's offers any more.
  /// held: the tensors that offers and rooms point into.
  virtual void release(std::vector<at::Tensor> held) noexcept = 0;

  /// x: contiguous, on the CPU; kept, not copied. Never waits.
  virtual void send(const at::Tensor& x, int to, int64_t tag) = 0;
  virtual at::Tensor recv(int from, int64_t tag) = 0;

  /// The group of these ranks of this one, called by each of them. context: a number that no other
  /// group of these ranks has.
  virtual std::shared_ptr<Transport> child(const std::vector<int>& members, int64_t context) = 0;

  GroupStats stats;
  int64_t sequence = 0;        ///< of the last collective
  const char* operation = "";  ///< what this rank is in now, for messages
  std::shared_ptr<int64_t> next_context = std::make_shared<int64_t>(1);  ///< one a rank

 protected:
  [[noreturn]] void fail(const std::string& what) const {
    throw CommError(world_rank(rank_), operation, what);
  }

  /// Throws what the world's failure is to this rank.
  [[noreturn]] void fail_as(const Failure& failure) const;

  std::vector<int> world_ranks_;
  int rank_;
  Settings settings_;
};

/// "rank 3", "ranks 2, 3"
std::string name_ranks(const std::vector<int>& ranks);

/// "rank 2: halo: lost" without the "rank 2: " that its reader says already.
std::string without_rank(int rank, const std::string& message);

/// Words for who is missed where; `mine` is what this rank has come to.
std::string did_not_come(const std::vector<int>& ranks, const Header& mine,
                         std::chrono::milliseconds timeout);
std::string will_not_come(const std::vector<int>& ranks, const Header& mine);
std::string no_message(int from, int64_t tag, bool ended, std::chrono::milliseconds timeout);
std::string sent_itself_nothing(int rank, int64_t tag);

/// The point in time `timeout` from now; far away, never before now.
std::chrono::steady_clock::time_point deadline_in(std::chrono::milliseconds timeout);

}  // namespace intarsia
