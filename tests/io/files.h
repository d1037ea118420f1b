#pragma once
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/tensors.h"

namespace intarsia::test {

inline std::filesystem::path io_data(const std::string& name) {
  return std::filesystem::path(INTARSIA_TEST_DATA) / "io" / name;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::filesystem::path write_bytes(const std::filesystem::path& path,
                                         const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// A safetensors file as bytes, header and buffer as given.
inline std::string raw_safetensors(const std::string& header, const std::string& buffer = "") {
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes + header + buffer;
}

/// What `fixtures` are made of: 0 … 23 as [2, 3, 4].
inline at::Tensor counted(at::ScalarType dtype = at::kFloat) {
  return at::arange(24, at::kFloat).reshape({2, 3, 4}).to(dtype);
}

/// Gives `read` the file cut at every step-th byte; each must be refused.
template <class Read>
void expect_cuts_refused(const std::filesystem::path& file, size_t step, const Read& read) {
  const std::string bytes = read_bytes(file);
  const TemporaryFolder folder;
  for (size_t length = 0; length < bytes.size(); length += std::max<size_t>(step, 1)) {
    const auto cut =
        write_bytes(folder.path / ("cut" + file.extension().string()), bytes.substr(0, length));
    EXPECT_THROW(read(cut), std::invalid_argument) << file << " cut to " << length << " bytes";
  }
}

/// Gives `read` the file with each byte changed in turn: it may be read or refused, nothing else.
template <class Read>
void expect_damage_survived(const std::filesystem::path& file, const Read& read) {
  const std::string bytes = read_bytes(file);
  const TemporaryFolder folder;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned char change : {0xff, 0x01, 0x80}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto path = write_bytes(folder.path / ("damaged" + file.extension().string()), damaged);
      try {
        read(path);
      } catch (const std::invalid_argument&) {
      }
    }
  }
}

}  // namespace intarsia::test
