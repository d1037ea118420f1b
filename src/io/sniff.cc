#include "io/sniff.h"

#include <algorithm>
#include <cctype>

namespace intarsia::io {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  const char* words;
};

constexpr Magic kMagics[] = {
    {"version https://git-lfs"sv, "a git-lfs pointer; fetch the real file with `git lfs pull`"},
    {"\x89PNG\r\n"sv, "a PNG picture"},
    {"\xff\xd8\xff"sv, "a JPEG picture"},
    {"GIF8"sv, "a GIF picture"},
    {"II*\0"sv, "a TIFF picture"},
    {"MM\0*"sv, "a TIFF picture"},
    {"\xff\x0a"sv, "a JPEG XL picture"},
    {"\0\0\0\x0cJXL "sv, "a JPEG XL picture"},
    {"\0\0\0\x0cjP  "sv, "a JPEG 2000 picture"},
    {"8BPS"sv, "a Photoshop file"},
    {"%PDF"sv, "a PDF"},
    {"PK\x03\x04"sv, "a zip archive (torch.save writes these); convert it to safetensors"},
    {"PK\x05\x06"sv, "an empty zip archive"},
    {"\x80\x02"sv, "a Python pickle (an old torch.save file); convert it to safetensors"},
    {"\x80\x03"sv, "a Python pickle; convert it to safetensors"},
    {"\x80\x04"sv, "a Python pickle; convert it to safetensors"},
    {"\x80\x05"sv, "a Python pickle; convert it to safetensors"},
    {"\x93NUMPY"sv, "a NumPy .npy array"},
    {"GGUF"sv, "a GGUF model"},
    {"\x89HDF"sv, "an HDF5 file"},
    {"\x1f\x8b"sv, "gzip-compressed; unpack it first"},
    {"\x28\xb5\x2f\xfd"sv, "zstd-compressed; unpack it first"},
    {"7z\xbc\xaf"sv, "a 7-zip archive; unpack it first"},
    {"\x7f"
     "ELF"sv,
     "a program (ELF)"},
};

struct Tagged {
  std::string_view tag;
  const char* words;
};

constexpr Tagged kBrands[] = {
    // after "ftyp" in an ISO media file
    {"avif"sv, "an AVIF picture"}, {"avis"sv, "an AVIF picture"}, {"heic"sv, "a HEIC picture"},
    {"heix"sv, "a HEIC picture"},  {"hevc"sv, "a HEIC picture"},  {"mif1"sv, "a HEIF picture"},
    {"msf1"sv, "a HEIF picture"},
};

// Formats whose first bytes are sizes.
std::string boxed(std::string_view bytes) {
  if (bytes.size() < 12) return "";
  const std::string_view brand = bytes.substr(8, 4);
  if (bytes.starts_with("RIFF"))
    return brand == "WEBP" ? "a WebP picture" : "a RIFF file (WAV or AVI)";
  if (bytes.starts_with("BM") && bytes.substr(6, 4) == "\0\0\0\0"sv) return "a BMP picture";
  if (bytes.substr(4, 4) != "ftyp") return "";
  for (const auto& known : kBrands)
    if (brand == known.tag) return known.words;
  return "an MP4 or similar video";
}

std::string lower_start(std::string_view bytes) {
  const size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  std::string start(bytes.substr(begin, 16));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return start;
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) {
    return c >= 0x20 || c == '\t' || c == '\n' || c == '\r' || c == '\f';
  });
}

}  // namespace

std::string looks_like(std::string_view bytes) {
  for (const auto& magic : kMagics)
    if (bytes.substr(0, magic.bytes.size()) == magic.bytes) return magic.words;
  if (std::string words = boxed(bytes); !words.empty()) return words;
  const std::string start = lower_start(bytes.substr(0, 512));
  if (start.starts_with("<!doctype html") || start.starts_with("<html"))
    return "an HTML page (a download that needed a login, or a wrong link)";
  if (start.starts_with("<")) return "an XML or HTML text";
  if (!is_text(bytes.substr(0, 512))) return "";
  if (start.starts_with("{") || start.starts_with("[")) return "a JSON text";
  return "a text file";
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 120;
  std::string words(text.substr(0, kLongest));
  for (char& c : words)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return "'" + words + (text.size() > kLongest ? "…'" : "'");
}

}  // namespace intarsia::io
