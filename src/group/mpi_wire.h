#pragma once
#define OMPI_SKIP_MPICXX 1  // the C interface only: the old C++ one wants a library of its own
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <list>
#include <vector>

#include "group/transport.h"

namespace intarsia::mpi {

enum class Kind : int32_t { kMeet, kMessage, kFailed, kDone };

/// What every transfer begins with. Few bytes follow inside the same MPI message, many as a
/// transfer of their own under `bulk_tag`.
struct Frame {
  Kind kind = Kind::kMeet;
  int32_t run = 0;       ///< how many runs this process had before
  int64_t context = 0;   ///< the group
  int64_t number = 0;    ///< kMeet: the round; kMessage: the caller's tag
  int64_t bytes = 0;     ///< of the payload
  int32_t bulk_tag = 0;  ///< 0: the payload is inside
  int32_t unused = 0;    ///< no bytes of chance on the wire
  Header header;
};
static_assert(sizeof(Frame) == 192);

/// Frame and payload together stay under the 4 KiB that MPIs send without asking the receiver.
constexpr int64_t kInsideBytes = 3840 - sizeof(Frame);
/// MPI counts in ints, so a large payload travels in pieces.
constexpr int64_t kPieceBytes = int64_t(1) << 24;

/// A frame that has come, and what was inside.
struct Arrived {
  int from = 0;  // in the world
  Frame frame;
  std::vector<std::byte> inside;
  at::Tensor own = {};  // a message to oneself, which takes no wire
};

using Requests = std::vector<MPI_Request>;

/// MPI as this library uses it: frames and bulk between the processes of the world, nothing that
/// waits. One a process, made on first use, never destroyed: MPI may read its buffers to the end.
class Wire {
 public:
  /// Starts MPI unless it runs. Every process of the job must come.
  static Wire& get();
  static bool exists();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// A number for each rank's host.
  const std::vector<int>& hosts() const { return hosts_; }
  /// Ranks of this host, with this one, that may run on a core that this one may run on.
  int core_sharers() const { return core_sharers_; }

  /// Sends a frame, and the payload inside it if that is small. Otherwise gives it a bulk tag, and
  /// the caller sends the bulk. Returns that tag.
  int send_frame(int to, Frame frame, const void* data);
  void send_bulk(int to, int tag, const void* data, int64_t bytes, Requests& requests);
  void receive_bulk(int from, int tag, void* to, int64_t bytes, Requests& requests);

  /// Whether these are over; forgets them then.
  bool test(Requests& requests);

  /// Remembers these, and the memory they use, until they are over.
  void keep(Requests requests, std::vector<at::Tensor> held);
  /// Sends that are not over.
  size_t pending() const { return pending_.size(); }

  /// Moves everything on, and hands over the frames that have come: of one sender in order.
  void poll(const std::function<void(Arrived)>& take);

  /// From now on MPI is ended properly when the process exits, or not.
  void finalize_at_exit(bool wanted) { finalize_ = wanted; }

 private:
  Wire();
  void find_neighbours();
  void listen(int from);
  void forget_sent();
  void finalize();

  struct Pending {
    Requests requests;
    std::vector<std::byte> frame;
    std::vector<at::Tensor> held;
  };

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, largest_tag_ = 32767;
  bool ours_ = false, finalize_ = false;  // ours: this library has started MPI
  std::vector<int> hosts_;
  int core_sharers_ = 1;
  std::vector<int> next_tag_;  // of bulk to each rank
  std::list<Pending> pending_;
  Requests listening_;                            // one a peer
  std::vector<std::vector<std::byte>> incoming_;  // the next frame of each
};

}  // namespace intarsia::mpi
