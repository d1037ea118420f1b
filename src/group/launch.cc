#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <intarsia/launch.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "check.h"
#include "group/gate.h"
#include "group/mpi.h"
#include "group/threads.h"

namespace intarsia::launch {
namespace {

/// How a rank computes, for as long as this lives.
class RankScope {
 public:
  RankScope(int threads, bool grad) {
    at::set_num_threads(threads);
    if (!grad) inference_.emplace();
  }

 private:
  std::optional<c10::InferenceMode> inference_;
};

/// Gives this thread its thread count back.
struct ThreadsRestored {
  ~ThreadsRestored() { at::set_num_threads(before); }
  const int before = at::get_num_threads();
};

int threads_of_a_rank(const Options& options, int sharers) {
  return options.threads_per_rank > 0 ? options.threads_per_rank : std::max(1, cores() / sharers);
}

void check_options(const Options& options) {
  check(options.timeout.count() > 0, "launch: timeout ", options.timeout.count(),
        " ms; use more than 0");
  check(options.threads_per_rank >= 0, "launch: threads_per_rank ", options.threads_per_rank,
        "; use 0 (share the cores) or more");
}

Transport::Settings settings_of(const Options& options) {
  return {options.timeout, options.checked};
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// n rank threads, and what became of them.
class RankThreads {
 public:
  RankThreads(int n, const std::function<void(Group&)>& body, const Options& options)
      : world_(std::make_shared<ThreadWorld>(n)),
        body_(body),
        options_(options),
        errors_(n),
        running_(n, true) {}

  void run() {
    std::vector<std::thread> threads;
    start(threads);
    watch();
    for (auto& thread : threads) thread.join();
    rethrow_first();
  }

 private:
  void start(std::vector<std::thread>& threads) {
    const int count = threads_of_a_rank(options_, world_->size());
    for (int rank = 0; rank < world_->size(); ++rank) {
      try {
        threads.emplace_back([this, rank, count] { run_rank(rank, count); });
      } catch (const std::system_error& error) {  // no more threads: as if the rank had thrown
        end_rank(rank, std::make_exception_ptr(std::runtime_error(
                           c10::str("launch: rank ", rank, " has no thread: ", error.what()))));
      }
    }
  }

  void run_rank(int rank, int threads) {
    std::exception_ptr error;
    try {
      RankScope scope(threads, options_.grad);
      Group group(join_threads(world_, rank, settings_of(options_)));
      body_(group);
    } catch (...) {
      error = std::current_exception();
    }
    end_rank(rank, error);
  }

  void end_rank(int rank, const std::exception_ptr& error) {
    if (error) world_->fail(rank, text_of(error));
    world_->end(rank);
    gate_.change([&] {
      errors_[rank] = error;
      if (error && !first_error_) first_error_ = error;
      running_[rank] = false;
    });
  }

  /// Waits for all ranks; after a failure for one timeout only, then says who is stuck.
  void watch() {
    const auto all_ended = [&] { return still_running().empty(); };
    gate_.wait([&] { return all_ended() || world_->failed(); });
    const auto never = [] { return false; };
    if (gate_.wait(deadline_in(options_.timeout), all_ended, never) || !options_.on_stuck) return;
    const auto failure = world_->failure();
    const auto stuck = gate_.locked([&] { return still_running(); });
    options_.on_stuck(c10::str(name_ranks(stuck), stuck.size() == 1 ? " has" : " have",
                               " not ended ", options_.timeout.count(), " ms after rank ",
                               failure->rank, " failed: ", failure->message));
  }

  std::vector<int> still_running() const {  // under the gate
    std::vector<int> ranks;
    for (size_t r = 0; r < running_.size(); ++r) {
      if (running_[r]) ranks.push_back(static_cast<int>(r));
    }
    return ranks;
  }

  void rethrow_first() const {
    const auto failure = world_->failure();
    if (failure && errors_[failure->rank]) std::rethrow_exception(errors_[failure->rank]);
    if (first_error_) std::rethrow_exception(first_error_);
  }

  std::shared_ptr<ThreadWorld> world_;
  const std::function<void(Group&)>& body_;
  const Options& options_;
  Gate gate_;
  std::vector<std::exception_ptr> errors_;
  std::exception_ptr first_error_;
  std::vector<bool> running_;
};

/// The world's size as a launcher's variables tell it. An salloc shell has SLURM_JOB_ID only, and
/// is no launcher; srun without --mpi=pmix or pmi2 starts strangers.
std::optional<int> launched_size() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (!size) size = std::getenv("PMI_SIZE");
  const bool ranked = std::getenv("PMIX_RANK") || std::getenv("PMI_RANK");
  if (!size && ranked) size = std::getenv("SLURM_STEP_NUM_TASKS");
  if (size) return std::max(1, std::atoi(size));
  return ranked ? std::optional<int>(1) : std::nullopt;
}

}  // namespace

void run(int n, const std::function<void(Group&)>& body, const Options& options) {
  check(n >= 1 && n <= 4096, "launch: ", n, " ranks; use 1 to 4096");
  check_options(options);
  std::signal(SIGPIPE, SIG_IGN);
  ThreadsRestored restored;
  if (n > 1) return RankThreads(n, body, options).run();
  RankScope scope(threads_of_a_rank(options, 1), options.grad);
  Group group(join_threads(std::make_shared<ThreadWorld>(1), 0, settings_of(options)));
  body(group);
}

bool under_mpi() { return mpi::available() && launched_size().has_value(); }

void run_mpi(const std::function<void(Group&)>& body, const Options& options) {
  check(under_mpi(), "launch: this process was not started by mpirun or srun",
        mpi::available() ? "" : ", and this build has no MPI", "; use run(n, body)");
  check_options(options);
  std::signal(SIGPIPE, SIG_IGN);
  const auto joined = mpi::join(settings_of(options));
  try {
    ThreadsRestored restored;
    RankScope scope(threads_of_a_rank(options, joined.core_sharers), options.grad);
    Group group(joined.world);
    body(group);
    mpi::finish();
  } catch (...) {
    mpi::leave(text_of(std::current_exception()));
    throw;
  }
}

void start(int n, const std::function<void(Group&)>& body, const Options& options) {
  const int launched = launched_size().value_or(1);
  if (!under_mpi()) {
    check(launched == 1, "launch: started by a launcher with ", launched,
          " processes, but this build has no MPI; build with libopenmpi-dev, or use --ranks");
    return run(std::max(n, 1), body, options);
  }
  check(n == 0 || n == launched, "launch: ", n, " ranks asked for, but the launcher started ",
        launched, "; leave the number out");
  run_mpi(body, options);
}

void abandon(int exit_code) { mpi::abandon(exit_code); }

}  // namespace intarsia::launch
