#pragma once
#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace intarsia {

class Transport;  // src/group/transport.h: solo, threads, mpi

enum class Reduce { kSum, kMax };

/// What a group has sent and waited for so far, on this rank.
struct GroupStats {
  int64_t collectives = 0;     ///< collectives issued (send and recv not counted)
  int64_t bytes_sent = 0;      ///< payload bytes this rank made available to peers
  double seconds_waiting = 0;  ///< time spent inside collectives, send and recv
};

/// Ranks that can talk. A handle: copies talk through the same group. Every collective is called
/// by all ranks in the same order. In a group of one each is the identity.
///
/// Before data moves the ranks compare operation, dtype, shape and sequence number (unless the
/// group was started with `checked = false`); a mismatch throws CommError on every rank and names
/// both sides. A peer that throws, ends, or does not come within the timeout gives CommError too.
/// Tensors of any strides and any device; results are contiguous, on the device of the input.
/// dtypes: float64/32/16, bfloat16, (u)ints, bool, complex64/128.
class Group {
 public:
  /// A group of one.
  static Group solo();

  explicit Group(std::shared_ptr<Transport> transport);

  int rank() const;
  int size() const;
  /// How many ranks of this group share this rank's host (and so its cores).
  int local_size() const;
  /// How many ranks of this group live in this process: threads all of them, MPI one.
  int process_size() const;

  /// Sum or maximum over the ranks, in rank order (the same bits in every backend); 16-bit floats
  /// are summed in float32. x: equal shape and dtype on all ranks; bool: sum is "or". Complex has
  /// no maximum. x is not changed.
  at::Tensor all_reduce(const at::Tensor& x, Reduce op = Reduce::kSum) const;

  /// The ranks' parts one after the other along `dim`, on every rank. Extents along `dim` may
  /// differ (also be 0); all other extents are equal.
  at::Tensor all_gather(const at::Tensor& x, int64_t dim = 0) const;

  /// root: every rank's tensor, in rank order, shapes free (same dtype). Others: an empty vector.
  std::vector<at::Tensor> gather(const at::Tensor& x, int root = 0) const;

  /// root brings one tensor a rank (shapes free, same dtype), others an empty vector; rank r gets
  /// parts[r].
  at::Tensor scatter(const std::vector<at::Tensor>& parts, int root = 0) const;

  /// root's tensor on every rank. Shape and dtype travel: others may bring an undefined tensor.
  at::Tensor broadcast(const at::Tensor& x, int root = 0) const;

  /// Point to point; shape and dtype travel. Messages of one (sender, tag) arrive in order. send
  /// never waits: x is shared, or on its way for a while, so do not write to it afterwards.
  void send(const at::Tensor& x, int to, int64_t tag = 0) const;
  at::Tensor recv(int from, int64_t tag = 0) const;

  void barrier() const;

  /// Ranks of equal colour form a new group, ordered by (key, old rank). colour < 0: in no group,
  /// and a group of one is returned.
  Group split(int64_t colour, int64_t key = 0) const;

  GroupStats stats() const;
  std::chrono::milliseconds timeout() const;

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace intarsia
