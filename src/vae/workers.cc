#include "vae/workers.h"

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>

#include <algorithm>

#include "aten.h"

namespace intarsia::vae {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Outcome run(const std::function<at::Tensor(const TileTask&)>& exec, const TileTask& task) {
  try {
    return {exec(task), ""};
  } catch (const c10::Error& e) {
    return {{}, e.what_without_backtrace()};
  } catch (const std::exception& e) {
    return {{}, e.what()};
  } catch (...) {
    return {{}, "unknown error"};
  }
}

}  // namespace

Workers::Workers(std::vector<const TileTask*> tasks,
                 const std::function<at::Tensor(const TileTask&)>& exec, int workers,
                 int threads_each)
    : tasks_(std::move(tasks)),
      exec_(exec),
      threads_each_(std::max(1, threads_each)),
      start_(std::chrono::steady_clock::now()),
      outcomes_(tasks_.size()) {
  const size_t count = std::min<size_t>(std::max(1, workers), tasks_.size());
  const at::ThreadLocalState state;
  for (size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this, state] {
      const at::ThreadLocalStateGuard guard(state);
      // The first look at the count makes ATen set its default in this thread; ours comes after.
      at::get_num_threads();
      at::set_num_threads(threads_each_);
      work();
    });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  for (std::thread& t : threads_) t.join();
}

void Workers::work() {
  while (true) {
    size_t i = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stop_ || !failure_.empty() || next_ == tasks_.size()) return;
      i = next_++;
    }
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = run(exec_, *tasks_[i]);
    finish(i, std::move(outcome), since(begin));
  }
}

void Workers::finish(size_t i, Outcome outcome, double seconds) {
  const std::lock_guard lock(mutex_);
  busy_ += seconds;
  last_ = since(start_);
  if (!outcome.error.empty() && failure_.empty()) {
    failure_ = outcome.error;
    // Nobody will compute the rest: they fail for the same reason.
    for (size_t k = next_; k < tasks_.size(); ++k) outcomes_[k] = Outcome{{}, failure_};
  }
  outcomes_[i] = std::move(outcome);
  done_.notify_all();
}

Outcome Workers::take(size_t i) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return outcomes_[i].has_value(); });
  return std::move(*outcomes_[i]);
}

double Workers::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

double Workers::seconds_to_last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace intarsia::vae
