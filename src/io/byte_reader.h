#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "check.h"

namespace intarsia::io {

/// Walks over little-endian bytes; every step past the end throws std::invalid_argument that says
/// `what` is truncated.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string what, size_t at = 0)
      : bytes_(bytes), what_(std::move(what)), at_(at) {}

  std::string_view take(uint64_t count) {
    check(at_ <= bytes_.size() && count <= bytes_.size() - at_, what_, " is truncated: ", count,
          " bytes are wanted at ", at_, " of ", bytes_.size());
    const auto taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  /// An integer as it lies there.
  template <class Integer>
  Integer next() {
    Integer value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  /// Up to the next newline, which is skipped.
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    check(end != std::string_view::npos, what_, " is truncated inside a line");
    const auto taken = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return taken;
  }

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  const std::string& what() const { return what_; }

 private:
  std::string_view bytes_;
  std::string what_;
  size_t at_;
};

}  // namespace intarsia::io
