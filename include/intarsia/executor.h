#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/group.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

// Any model's tiles on any number of ranks: split, exec, merge (docs/vae.md,
// examples/own_model.cc).
namespace intarsia {

/// A piece of work. Its result has the same bits whoever runs it.
struct TileTask {
  int64_t tile_id = 0;                  ///< 0 … n−1, row-major
  std::array<int64_t, 2> grid_coord{};  ///< row, column
  std::vector<at::Tensor> tensor;       ///< one tensor, or the time chunks of one place
  double workload = 1;                  ///< for the balance; usually the area
};

struct GridSpec {
  std::vector<int64_t> split_dims;             ///< axes of the output that vary per tile
  std::array<int64_t, 2> grid_shape{};         ///< rows, columns
  std::map<std::string, int64_t> tile_spec;    ///< what merge wants to know
  std::optional<at::ScalarType> output_dtype;  ///< absent: as exec returns it
};

struct Split {
  std::vector<TileTask> tasks;
  GridSpec grid;
};

struct TileResult {
  std::array<int64_t, 2> grid_coord{};
  at::Tensor tensor;
};

/// Results on rank 0, in row-major order, each as soon as it is there.
class TileStream {
 public:
  virtual ~TileStream() = default;
  /// The next tile, or nothing after the last.
  virtual std::optional<TileResult> next() = 0;
};

/// What a model brings.
struct Operator {
  /// Called on every rank with the same z; gives the same tasks everywhere, ids 0 … n−1 in order.
  std::function<Split(const at::Tensor& z)> split;
  /// Called for the tasks of this rank, from up to `workers` threads at once.
  std::function<at::Tensor(const TileTask& task)> exec;
  /// Called on rank 0 only. Need not hold more tiles than it wants.
  std::function<at::Tensor(TileStream& tiles, const GridSpec& grid)> merge;
};

struct ExecuteOptions {
  int64_t parts = 0;       ///< ranks that get tiles; 0 or more than the group: the whole group
  bool broadcast = false;  ///< true: every rank gets the result; false: rank 0, others an empty [0]
  int workers = 1;         ///< tiles of one rank computed at once, each in its own thread
  int threads_per_tile = 1;  ///< at::set_num_threads of a worker: part of the plan, so of the bits
  /// Task ids of each rank, every task once; empty: balanced by workload over `parts` ranks.
  std::vector<std::vector<int64_t>> owners;
  /// Called on rank 0 as tiles arrive, from the calling thread: done of total.
  std::function<void(int64_t done, int64_t total)> progress;
};

struct RankReport {
  int64_t tiles = 0;
  double busy = 0;     ///< seconds inside exec, summed over workers
  double waiting = 0;  ///< seconds of this call in which the rank had no tile to compute
  int64_t bytes_sent = 0;
  int64_t peak_bytes = 0;  ///< peak resident memory so far of the process the rank lives in
};

struct Executed {
  at::Tensor result;               ///< on rank 0 (broadcast: on all); else an empty 1-D tensor
  std::vector<RankReport> ranks;   ///< on every rank
  std::vector<std::string> notes;  ///< what was decided differently than asked
};

/// Runs op on the group. Collective, also for ranks without tiles. If exec or merge fails anywhere,
/// every rank throws std::runtime_error with the failing rank, tile and message, and the group
/// stays usable. Throws std::invalid_argument on every rank if ranks bring different z.
Executed execute(const at::Tensor& z, const Operator& op, Group& group,
                 const ExecuteOptions& options = {});

}  // namespace intarsia
