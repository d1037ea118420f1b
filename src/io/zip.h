#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace intarsia::io {

/// One file inside a zip archive.
struct ZipEntry {
  std::string name;
  uint64_t offset = 0;  ///< of its local header
  uint64_t packed = 0;  ///< bytes in the archive
  uint64_t size = 0;    ///< bytes unpacked
  uint32_t crc = 0;
  bool deflated = false;
};

/// The directory of a zip archive in memory, by name. Validated: everything lies inside, names are
/// unique, nothing is encrypted, only stored and deflated entries, no entry claims to unpack to
/// more than deflate can. zip64 is read. Throws std::invalid_argument naming `what`.
struct Zip {
  std::string_view bytes;
  std::string what;
  std::map<std::string, ZipEntry> entries;
};
Zip open_zip(std::string_view bytes, const std::string& what);

/// An entry's bytes, checked against its checksum: inside the archive where it is stored, else
/// unpacked into `buffer`.
std::string_view read_entry(const Zip& zip, const ZipEntry& entry, std::string& buffer);

}  // namespace intarsia::io
