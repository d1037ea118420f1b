#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace intarsia::io {

/// A file that appears under its name whole or not at all: written beside it, renamed by commit().
/// Left uncommitted it is removed. Throws std::invalid_argument naming path and reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void commit();
  /// Where the bytes go until commit(), for libraries that open files themselves.
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
};

/// Writes the whole of `data` to `path`, whole or not at all.
void write_file(const std::filesystem::path& path, const std::string& data);

}  // namespace intarsia::io
