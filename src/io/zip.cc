#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "check.h"
#include "io/byte_reader.h"
#include "io/sniff.h"

namespace intarsia::io {
namespace {

constexpr uint32_t kLocalMark = 0x04034b50;
constexpr uint32_t kEntryMark = 0x02014b50;
constexpr uint32_t kEndMark = 0x06054b50;
constexpr uint32_t kEnd64Mark = 0x06064b50;
constexpr uint32_t kEnd64PlaceMark = 0x07064b50;
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64PlaceBytes = 20;
constexpr size_t kEntryBytes = 46;
constexpr uint32_t kNarrow = 0xffffffff;               // "see zip64"
constexpr uint64_t kMostUnpacked = uint64_t{4} << 30;  // of one deflated entry

struct Directory {
  uint64_t count = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

// The end record is followed only by a comment of at most 64 KiB.
size_t find_end(std::string_view bytes, const std::string& what) {
  const std::string_view mark("PK\5\6", 4);
  size_t at = bytes.size() < kEndBytes ? std::string_view::npos
                                       : bytes.rfind(mark, bytes.size() - kEndBytes);
  while (at != std::string_view::npos && bytes.size() - at <= kEndBytes + 0xffff) {
    const auto comment = ByteReader(bytes, what, at + 20).next<uint16_t>();
    if (at + kEndBytes + comment == bytes.size()) return at;
    if (at == 0) break;
    at = bytes.rfind(mark, at - 1);
  }
  check(false, what, " is a zip archive without its end: it is truncated");
  return 0;
}

Directory directory64(std::string_view bytes, const std::string& what, size_t end) {
  check(end >= kEnd64PlaceBytes, what, " is a broken zip archive: no zip64 record");
  ByteReader place(bytes, what, end - kEnd64PlaceBytes);
  check(place.next<uint32_t>() == kEnd64PlaceMark, what,
        " is a broken zip archive: no zip64 record");
  place.take(4);
  ByteReader record(bytes, what, place.next<uint64_t>());
  check(record.next<uint32_t>() == kEnd64Mark, what, " is a broken zip archive: no zip64 record");
  record.take(28);
  Directory directory;
  directory.count = record.next<uint64_t>();
  directory.size = record.next<uint64_t>();
  directory.offset = record.next<uint64_t>();
  return directory;
}

Directory find_directory(std::string_view bytes, const std::string& what) {
  const size_t end = find_end(bytes, what);
  ByteReader record(bytes, what, end + 4);
  const auto disk = record.next<uint16_t>();
  const auto first_disk = record.next<uint16_t>();
  const auto here = record.next<uint16_t>();
  Directory directory;
  directory.count = record.next<uint16_t>();
  directory.size = record.next<uint32_t>();
  directory.offset = record.next<uint32_t>();
  const bool wide =
      directory.count == 0xffff || directory.size == kNarrow || directory.offset == kNarrow;
  if (wide) return directory64(bytes, what, end);
  check(disk == 0 && first_disk == 0 && here == directory.count, what,
        " is a zip archive in several volumes, which is not read");
  return directory;
}

// zip64's extra field holds, in this order, those of the three numbers that did not fit.
void widen(ZipEntry& entry, std::string_view extra, const std::string& what) {
  const bool narrow = entry.size == kNarrow || entry.packed == kNarrow || entry.offset == kNarrow;
  ByteReader reader(extra, what);
  while (narrow && reader.left() >= 4) {
    const auto kind = reader.next<uint16_t>();
    ByteReader field(reader.take(reader.next<uint16_t>()), what);
    if (kind != 1) continue;
    for (uint64_t* number : {&entry.size, &entry.packed, &entry.offset})
      if (*number == kNarrow) *number = field.next<uint64_t>();
    return;
  }
}

void check_entry(const ZipEntry& entry, int method, int flags, const Zip& zip) {
  const auto what = zip.what + ": entry " + in_quotes(entry.name);
  check((flags & 1) == 0, what, " is encrypted, which is not read");
  check(method == 0 || method == 8, what, " is packed by method ", method,
        "; only stored and deflated entries are read");
  check(entry.packed <= zip.bytes.size(), what, " is longer than the archive");
  check(entry.deflated || entry.packed == entry.size, what, " has two different lengths");
  check(!entry.deflated || entry.size / 1032 <= entry.packed, what, " claims to unpack ",
        entry.packed, " bytes to ", entry.size, ", which deflate cannot");
  check(!entry.deflated || entry.size <= kMostUnpacked, what, " unpacks to ", entry.size,
        " bytes; the limit is ", kMostUnpacked);
}

ZipEntry next_entry(ByteReader& reader, const Zip& zip) {
  check(reader.next<uint32_t>() == kEntryMark, zip.what,
        " is a broken zip archive: its directory is damaged");
  ZipEntry entry;
  reader.take(4);
  const auto flags = reader.next<uint16_t>();
  const auto method = reader.next<uint16_t>();
  reader.take(4);
  entry.crc = reader.next<uint32_t>();
  entry.packed = reader.next<uint32_t>();
  entry.size = reader.next<uint32_t>();
  const auto name_bytes = reader.next<uint16_t>();
  const auto extra_bytes = reader.next<uint16_t>();
  const auto comment_bytes = reader.next<uint16_t>();
  reader.take(8);
  entry.offset = reader.next<uint32_t>();
  entry.name = reader.take(name_bytes);
  entry.deflated = method == 8;
  widen(entry, reader.take(extra_bytes), zip.what);
  reader.take(comment_bytes);
  check_entry(entry, method, flags, zip);
  return entry;
}

// Where the entry's packed bytes are; the local header must agree with the directory.
std::string_view packed_bytes(const Zip& zip, const ZipEntry& entry) {
  const auto what = zip.what + ": entry " + in_quotes(entry.name);
  ByteReader reader(zip.bytes, what, entry.offset);
  check(reader.next<uint32_t>() == kLocalMark, what, " is not where the directory says");
  reader.take(4);
  check((reader.next<uint16_t>() == 8) == entry.deflated, what,
        " is packed otherwise than the directory says");
  reader.take(16);
  const auto name_bytes = reader.next<uint16_t>();
  const auto extra_bytes = reader.next<uint16_t>();
  check(reader.take(name_bytes) == entry.name, what, " has another name in the archive");
  reader.take(extra_bytes);
  return reader.take(entry.packed);
}

struct Inflater {
  z_stream stream{};
  bool ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
};

// zlib counts in 32 bits: packed bytes and room are handed over in pieces.
void inflate_into(std::string_view packed, std::string& out, const std::string& what) {
  Inflater inflater;
  check(inflater.ready, what, ": zlib could not start");
  auto& stream = inflater.stream;
  const size_t piece = std::numeric_limits<uInt>::max();
  size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t in = std::min(piece, packed.size() - read);
    const size_t room = std::min(piece, out.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  check(status == Z_STREAM_END && written == out.size() && read == packed.size(), what,
        " does not unpack to the ", out.size(), " bytes it claims");
}

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Zip open_zip(std::string_view bytes, const std::string& what) {
  Zip zip{bytes, what, {}};
  const auto directory = find_directory(bytes, what);
  ByteReader whole(bytes, what, directory.offset);
  ByteReader reader(whole.take(directory.size), what + ": its directory");
  check(directory.count <= directory.size / kEntryBytes, what,
        " is a broken zip archive: its directory is too short for ", directory.count, " entries");
  for (uint64_t i = 0; i < directory.count; ++i) {
    const auto entry = next_entry(reader, zip);
    check(zip.entries.emplace(entry.name, entry).second, what, ": entry ", in_quotes(entry.name),
          " stands twice");
  }
  return zip;
}

std::string_view read_entry(const Zip& zip, const ZipEntry& entry, std::string& buffer) {
  auto bytes = packed_bytes(zip, entry);
  const auto what = zip.what + ": entry " + in_quotes(entry.name);
  if (entry.deflated) {
    buffer.assign(entry.size, '\0');
    inflate_into(bytes, buffer, what);
    bytes = buffer;
  }
  check(checksum(bytes) == entry.crc, what,
        " does not match its checksum: the file is damaged (or was saved by torch with "
        "set_crc32_options(False); save it again without)");
  return bytes;
}

}  // namespace intarsia::io
