#pragma once
#include <ATen/core/Tensor.h>
#include <intarsia/launch.h>
#include <intarsia/vae.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace intarsia::app {

/// Flags that mean the same in every verb.
struct Common {
  int ranks = 0;    ///< 0: one, or the world under a launcher
  int threads = 0;  ///< 0: all cores
  std::string device = "cpu";
  std::string dtype = "float32";
  double timeout = 600;  ///< seconds
  bool no_check = false;
  bool json = false;
  bool quiet = false;
};

at::ScalarType dtype_of(const std::string& name);
at::Device device_of(const std::string& name);
/// "2GiB", "512MiB", "1.5G", "300000000" → bytes. Throws std::invalid_argument.
int64_t bytes_of(const std::string& text);
/// 1234567 → "1.2 MiB".
std::string bytes_text(int64_t bytes);

/// Runs body on the ranks that the flags or the launcher ask for.
void on_ranks(const Common& common, const std::function<void(Group&)>& body);
/// The rank a launcher gave this process, 0 without one: who may print before ranks have met.
int launcher_rank();

/// To stderr, unless --quiet: "intarsia: text".
void say(const Common& common, const std::string& text);
void say_all(const Common& common, const std::vector<std::string>& notes);

/// A bar on stderr, if that is a terminal and not --quiet.
std::function<void(int64_t done, int64_t total)> progress_bar(const Common& common,
                                                              const std::string& what);

/// A value that the ranks of one process share: made by the first to ask; an error reaches all.
template <typename T>
class Shared {
 public:
  explicit Shared(std::function<T()> make) : make_(std::move(make)) {}
  const T& get() {
    const std::lock_guard lock(mutex_);
    if (!value_ && !error_) {
      try {
        value_ = std::make_unique<T>(make_());
      } catch (...) {
        error_ = std::current_exception();
      }
    }
    if (error_) std::rethrow_exception(error_);
    return *value_;
  }

 private:
  std::function<T()> make_;
  std::mutex mutex_;
  std::unique_ptr<T> value_;
  std::exception_ptr error_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Text in columns: the first row is the header; columns of numbers are right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows);
/// printf-style number.
std::string number(double value, int decimals);

}  // namespace intarsia::app
