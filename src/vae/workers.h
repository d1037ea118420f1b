#pragma once
#include <intarsia/executor.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace intarsia::vae {

/// What became of a task: a tensor, or why there is none.
struct Outcome {
  at::Tensor tensor;
  std::string error;
};

/// Threads that compute one rank's tasks in order, while the rank's own thread talks to peers.
/// After a failure the remaining tasks are not started. Grad and inference mode are the caller's.
class Workers {
 public:
  /// tasks and exec must outlive it.
  Workers(std::vector<const TileTask*> tasks,
          const std::function<at::Tensor(const TileTask&)>& exec, int workers, int threads_each);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Waits for the i-th task and hands its outcome over.
  Outcome take(size_t i);
  double busy() const;             ///< seconds inside exec so far, over all workers
  double seconds_to_last() const;  ///< from the start to the end of the last task finished so far

 private:
  void work();
  void finish(size_t i, Outcome outcome, double seconds);

  std::vector<const TileTask*> tasks_;
  const std::function<at::Tensor(const TileTask&)>& exec_;
  int threads_each_;
  std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::optional<Outcome>> outcomes_;
  size_t next_ = 0;
  std::string failure_;
  double busy_ = 0;
  double last_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace intarsia::vae
