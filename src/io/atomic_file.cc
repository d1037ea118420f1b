#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "check.h"

namespace intarsia::io {
namespace {

std::filesystem::path beside(const std::filesystem::path& path) {
  static std::atomic<int> counter{0};
  auto name = "." + path.filename().string() + "." + std::to_string(::getpid()) + "." +
              std::to_string(counter++) + ".part";
  return path.parent_path() / name;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(beside(path_)) {
  check(path_.has_filename(), "cannot write ", path_.string(), ": it names no file");
  check(!std::filesystem::is_directory(path_), "cannot write ", path_.string(),
        ": it is a folder; give a file name");
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  check(fd_ >= 0, "cannot write ", path_.string(), ": ", std::strerror(errno));
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd_, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    check(n > 0, "cannot write ", path_.string(), ": ", std::strerror(errno));
    at += n;
    bytes -= static_cast<size_t>(n);
  }
}

void AtomicFile::commit() {
  const bool closed = ::close(fd_) == 0;
  fd_ = -1;
  if (!closed || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    check(false, "cannot write ", path_.string(), ": ", std::strerror(reason));
  }
}

void write_file(const std::filesystem::path& path, const std::string& data) {
  AtomicFile file(path);
  file.write(data.data(), data.size());
  file.commit();
}

}  // namespace intarsia::io
