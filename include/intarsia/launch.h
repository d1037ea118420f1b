#pragma once
#include <intarsia/group.h>

#include <chrono>
#include <functional>
#include <string>

namespace intarsia::launch {

struct Options {
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  ///< longest wait for a peer
  bool checked = true;  ///< compare operation, dtype and shape across ranks before data moves
  int threads_per_rank =
      0;              ///< at::set_num_threads of a rank; 0: cores / ranks of this host, at least 1
  bool grad = false;  ///< true: autograd stays on; false: ranks run in InferenceMode
  /// Called when a rank thread has not ended within the timeout after another failed: threads can't
  /// be killed, so the command ends the process here. Empty: run() waits for it without end.
  std::function<void(const std::string& message)> on_stuck = {};
};

/// Cores this process may use (affinity and cgroup limits respected), at least 1.
int cores();

/// Runs body(group) on n rank threads of this process and joins them all. Rethrows the error of
/// the rank that failed first (its type kept); peers waiting for it get CommError. n = 1 runs in
/// this thread.
void run(int n, const std::function<void(Group&)>& body, const Options& options = {});

/// True if this process was started by mpirun or srun and the library was built with MPI.
bool under_mpi();

/// Runs body(world) on this process as one rank of MPI. Errors are told to the peers, then
/// rethrown here. Throws std::invalid_argument if not under_mpi().
void run_mpi(const std::function<void(Group&)>& body, const Options& options = {});

/// run_mpi under a launcher (n must then be 0 or the world's size), else run(n).
void start(int n, const std::function<void(Group&)>& body, const Options& options = {});

/// Ends an MPI process after a failure without waiting for peers; returns if MPI was never joined.
void abandon(int exit_code);

}  // namespace intarsia::launch
