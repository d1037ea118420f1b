#include <intarsia/picture.h>

#include <algorithm>
#include <cctype>

#include "aten.h"
#include "check.h"
#include "io/atomic_file.h"
#include "io/mapped_file.h"
#include "io/picture_reader.h"
#include "io/picture_rows.h"
#include "io/sniff.h"

namespace intarsia {
namespace {

using io::PictureReader;

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n"); }
bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

std::unique_ptr<PictureReader> open(const io::MappedFile& file) {
  const std::string_view bytes = file.bytes();
  if (is_png(bytes)) return io::open_png(bytes, file.name());
  if (is_jpeg(bytes)) return io::open_jpeg(bytes, file.name());
  const std::string words = io::looks_like(bytes);
  check(words.empty(), file.name(), " is ", words, "; PNG and JPEG can be read");
  check(false, file.name(), " is not a picture that can be read; PNG and JPEG can");
  return nullptr;
}

void check_limits(const PictureInfo& info, const std::string& name, const PictureLimits& limits) {
  // Extents are below 2^31, so that the product fits.
  check(info.width * info.height <= limits.max_pixels, name, " has ", info.width, "x", info.height,
        " = ", info.width * info.height, " pixels; at most ", limits.max_pixels,
        " are read, raise the limit if the picture is wanted");
}

template <class Value>
void read_into(PictureReader& reader, at::Tensor& pixels, io::RowsToRgb& rows) {
  auto* data = pixels.data_ptr<Value>();
  const int64_t stride = pixels.size(1) * 3;
  reader.read_rows(
      [&](int64_t y, const uint8_t* samples) { rows.row(samples, data + y * stride); });
}

std::string extension_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

// As [H, W, C], contiguous on the CPU.
at::Tensor checked_pixels(const at::Tensor& pixels, int bits, const std::string& name) {
  check(pixels.defined(), "cannot write ", name, ": its pixels are an undefined tensor");
  const bool shaped =
      pixels.dim() == 2 || (pixels.dim() == 3 && (pixels.size(2) == 1 || pixels.size(2) == 3));
  check(shaped && pixels.numel() > 0, "cannot write ", name, ": its pixels have the shape ",
        pixels.sizes(), "; [H, W, 3], [H, W, 1] and [H, W] can be written");
  check(bits == 8 || bits == 16, "cannot write ", name, " with ", bits,
        " bits a channel; 8 and 16 can be written");
  const auto wanted = bits == 8 ? at::kByte : at::kInt;
  check(pixels.scalar_type() == wanted, "cannot write ", name, ": pixels of ", bits, " bits are ",
        bits == 8 ? "uint8" : "int32", ", not ", pixels.scalar_type());
  at::Tensor plain = pixels.cpu().contiguous();
  if (plain.dim() == 2) plain = plain.unsqueeze(2);
  if (bits == 16)
    check(plain.min().item<int>() >= 0 && plain.max().item<int>() <= 65535, "cannot write ", name,
          ": its values are from ", plain.min().item<int>(), " to ", plain.max().item<int>(),
          "; 16 bits hold 0 to 65535");
  return plain;
}

std::string encode_as_jpeg(const at::Tensor& pixels, const WriteOptions& options,
                           const std::string& name) {
  constexpr int64_t kLargest = 65500;
  check(options.bits == 8, "cannot write ", name, " with ", options.bits,
        " bits a channel: a JPEG has 8; give a .png");
  check(options.jpeg_quality >= 1 && options.jpeg_quality <= 100, "cannot write ", name,
        ": JPEG quality ", options.jpeg_quality, " is not within 1 to 100");
  check(pixels.size(0) <= kLargest && pixels.size(1) <= kLargest, "cannot write ", name, ": ",
        pixels.size(1), "x", pixels.size(0), " pixels; a JPEG has at most ", kLargest,
        " a side, a .png may have more");
  return io::encode_jpeg(pixels, options.jpeg_quality);
}

}  // namespace

bool is_picture(const std::filesystem::path& path) {
  const io::MappedFile file(path);
  return is_png(file.bytes()) || is_jpeg(file.bytes());
}

PictureInfo read_picture_info(const std::filesystem::path& path) {
  const io::MappedFile file(path);
  PictureInfo info = open(file)->header().info;
  if (info.orientation >= 5) std::swap(info.width, info.height);
  return info;
}

Picture read_picture(const std::filesystem::path& path, const PictureLimits& limits) {
  const io::MappedFile file(path);
  const auto reader = open(file);
  const io::PictureHeader& header = reader->header();
  check_limits(header.info, file.name(), limits);
  file.check_whole();
  Picture picture;
  picture.bits = header.bits;
  picture.notes = header.notes;
  io::RowsToRgb rows(header, picture.notes);
  at::Tensor pixels = at::empty({header.info.height, header.info.width, 3},
                                header.bits == 16 ? at::kInt : at::kByte);
  if (header.bits == 16) {
    read_into<int32_t>(*reader, pixels, rows);
  } else {
    read_into<uint8_t>(*reader, pixels, rows);
  }
  picture.pixels = io::oriented(pixels, header.info.orientation);
  return picture;
}

void write_picture(const std::filesystem::path& path, const at::Tensor& pixels,
                   const WriteOptions& options) {
  const std::string extension = extension_of(path);
  const bool jpeg = extension == ".jpg" || extension == ".jpeg";
  check(jpeg || extension == ".png", "cannot write ", path.string(), ": its extension is ",
        io::in_quotes(extension), "; .png, .jpg and .jpeg can be written");
  const at::Tensor plain = checked_pixels(pixels, options.bits, path.string());
  io::write_file(path,
                 jpeg ? encode_as_jpeg(plain, options, path.string()) : io::encode_png(plain));
}

}  // namespace intarsia
