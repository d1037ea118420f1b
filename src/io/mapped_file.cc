#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "check.h"

namespace intarsia::io {
namespace {

// O_NONBLOCK: a named pipe without a writer must not hang the open.
int open_to_read(const std::filesystem::path& path) {
  check(!path.empty(), "cannot read a file without a name; give a path");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  check(fd >= 0, "cannot read ", path.string(), ": ", std::strerror(errno));
  return fd;
}

size_t size_to_map(int fd, const std::filesystem::path& path) {
  struct stat status {};
  check(::fstat(fd, &status) == 0, "cannot read ", path.string(), ": ", std::strerror(errno));
  check(!S_ISDIR(status.st_mode), "cannot read ", path.string(), ": it is a folder; give a file");
  check(S_ISREG(status.st_mode), "cannot read ", path.string(),
        ": it is no regular file (a pipe or a device); save it to a file first");
  check(status.st_size > 0, path.string(), " is empty (0 bytes)");
  return static_cast<size_t>(status.st_size);
}

}  // namespace

MappedFile::MappedFile(std::filesystem::path path) : path_(std::move(path)) {
  const int fd = open_to_read(path_);
  try {
    size_ = size_to_map(fd, path_);
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    check(data != MAP_FAILED, "cannot map ", name(), ": ", std::strerror(errno));
    data_ = static_cast<const char*>(data);
    fd_ = fd;
  } catch (...) {
    ::close(fd);
    throw;
  }
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<char*>(data_), size_);
  ::close(fd_);
}

void MappedFile::check_whole() const {
  struct stat status {};
  check(::fstat(fd_, &status) == 0, "cannot read ", name(), ": ", std::strerror(errno));
  check(static_cast<size_t>(status.st_size) >= size_, name(), " was cut from ", size_, " to ",
        status.st_size, " bytes while it was open; restore it and start again");
}

}  // namespace intarsia::io
