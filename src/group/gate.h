#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace intarsia {

/// Where threads wait for a fact that stays true once it is.
class Gate {
 public:
  /// Makes the fact true under the lock, and wakes everybody.
  template <class F>
  void change(F f) {
    {
      std::lock_guard lock(mutex_);
      f();
    }
    changed_.notify_all();
  }

  void wake() {
    change([] {});
  }

  template <class F>
  auto locked(F f) {
    std::lock_guard lock(mutex_);
    return f();
  }

  /// Sleeps until done(), stop() or the deadline; true if done(). Both are called under the lock.
  template <class Done, class Stop>
  bool wait(std::chrono::steady_clock::time_point deadline, Done done, Stop stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return done() || stop(); });
    return done();
  }

  template <class Done>
  void wait(Done done) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, done);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// A hint to the core that this thread is only looking.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks for `done` for some microseconds without sleeping: a peer on another core is often only
/// that late, and sleeping costs more.
template <class Done>
bool spin(Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause_core();
    }
    std::this_thread::yield();  // the peer may be on the same core all the same
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace intarsia
