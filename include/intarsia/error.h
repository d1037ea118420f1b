#pragma once
#include <stdexcept>
#include <string>

namespace intarsia {

/// A peer failed, diverged, or never came. Mistakes of the caller are std::invalid_argument.
class CommError : public std::runtime_error {
 public:
  /// rank: the rank on which the error is thrown. operation: the collective it was in.
  CommError(int rank, std::string operation, const std::string& what)
      : std::runtime_error("rank " + std::to_string(rank) + ": " + operation + ": " + what),
        rank_(rank),
        operation_(std::move(operation)) {}

  int rank() const { return rank_; }
  const std::string& operation() const { return operation_; }

 private:
  int rank_;
  std::string operation_;
};

}  // namespace intarsia
