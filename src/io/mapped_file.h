#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace intarsia::io {

/// A whole file, mapped read-only. Throws std::invalid_argument if it is missing, unreadable, empty
/// or no regular file. A file that another program cuts while it is mapped raises SIGBUS on access;
/// check_whole() narrows that to the time between the check and the read.
class MappedFile {
 public:
  explicit MappedFile(std::filesystem::path path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.string(); }
  /// Throws std::invalid_argument if the file has become shorter since it was opened.
  void check_whole() const;

 private:
  std::filesystem::path path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  int fd_ = -1;
};

}  // namespace intarsia::io
