#include <png.h>
#include <zlib.h>

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "check.h"
#include "io/exif.h"
#include "io/picture_reader.h"

namespace intarsia::io {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr size_t kChunkBytes = 12;  // length, type, checksum
constexpr png_uint_32 kLargestExtent = 0x7fffffff;

// What the callbacks reach through libpng.
struct Source {
  std::string_view bytes;
  size_t at = 0;
  bool truncated = false;
  char message[200] = "";
  char profile_fault[200] = "";
  std::jmp_buf back;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::snprintf(source->message, sizeof source->message, "%s", message);
  std::longjmp(source->back, 1);
}

void on_warning(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  if (std::strncmp(message, "iCCP", 4) == 0)
    std::snprintf(source->profile_fault, sizeof source->profile_fault, "%s", message);
}

void on_read(png_structp png, png_bytep data, size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->bytes.size() - source->at) {
    source->truncated = true;
    png_error(png, "end of file");
  }
  std::memcpy(data, source->bytes.data() + source->at, count);
  source->at += count;
}

uint32_t big_endian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The eXIf chunk, wherever it is: libpng tells of one behind the pixels only once they are read.
std::string_view find_exif(std::string_view bytes) {
  size_t at = kSignatureBytes;
  while (at + kChunkBytes <= bytes.size()) {
    const size_t length = big_endian(bytes, at);
    if (length > bytes.size() - at - kChunkBytes) break;
    const std::string_view body = bytes.substr(at + 4, length + 4);  // type and data
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>("eXIf"), 4);
    if (body.starts_with("eXIf")) {
      const std::string_view data = body.substr(4);
      const auto got =
          crc32(sum, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
      return got == big_endian(bytes, at + 8 + length) ? data : std::string_view();
    }
    at += length + kChunkBytes;
  }
  return {};
}

struct Handles {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Handles() = default;
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() { png_destroy_read_struct(&png, &info, nullptr); }
};

class PngReader : public PictureReader {
 public:
  PngReader(std::string_view bytes, std::string name) : name_(std::move(name)) {
    source_.bytes = bytes;
    handles_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, on_error, on_warning);
    check(handles_.png != nullptr, "cannot read ", name_, ": libpng does not start");
    guarded([&] {
      handles_.info = png_create_info_struct(handles_.png);
      png_set_read_fn(handles_.png, &source_, on_read);
      png_set_user_limits(handles_.png, kLargestExtent, kLargestExtent);
      png_read_info(handles_.png, handles_.info);
    });
    take_header();
    take_profile();
  }

  void read_rows(const TakeRow& take) override;

 private:
  // libpng leaves by longjmp: `step` must own nothing and call nothing that throws.
  template <class Step>
  void guarded(const Step& step) {
    if (setjmp(source_.back) != 0) fail();
    step();
  }
  [[noreturn]] void fail() const;
  void take_header();
  void take_profile();
  void set_transforms();
  void read_interlaced(int passes, const TakeRow& take);
  void check_plausible() const;

  std::string name_;
  Source source_;
  Handles handles_;
  bool transparent_colour_ = false;
  size_t row_bytes_ = 0;
};

void PngReader::fail() const {
  check(!source_.truncated, name_, " is truncated: the PNG goes on after its ",
        source_.bytes.size(), " bytes");
  throw std::invalid_argument(name_ + " is a broken PNG: " + source_.message);
}

void PngReader::take_header() {
  PictureInfo& info = header_.info;
  const int kind = png_get_color_type(handles_.png, handles_.info);
  info.format = "png";
  info.width = png_get_image_width(handles_.png, handles_.info);
  info.height = png_get_image_height(handles_.png, handles_.info);
  info.bits = png_get_bit_depth(handles_.png, handles_.info);
  info.palette = kind == PNG_COLOR_TYPE_PALETTE;
  info.channels = info.palette ? 3 : png_get_channels(handles_.png, handles_.info);
  info.orientation = exif_orientation(find_exif(source_.bytes));
  transparent_colour_ = png_get_valid(handles_.png, handles_.info, PNG_INFO_tRNS) != 0;
  header_.inks = (kind & PNG_COLOR_MASK_COLOR) != 0 ? Inks::kRgb : Inks::kGrey;
  header_.alpha = (kind & PNG_COLOR_MASK_ALPHA) != 0 || transparent_colour_;
  header_.bits = info.bits == 16 ? 16 : 8;
}

void PngReader::take_profile() {
  png_charp title = nullptr;
  png_bytep profile = nullptr;
  png_uint_32 length = 0;
  int method = 0;
  if (png_get_iCCP(handles_.png, handles_.info, &title, &method, &profile, &length) != 0) {
    header_.info.has_icc = true;
    header_.icc.assign(reinterpret_cast<const char*>(profile), length);
  } else if (source_.profile_fault[0] != '\0') {
    header_.notes.push_back(std::string("its colour profile is broken and was ignored (") +
                            source_.profile_fault + ")");
  }
}

// gAMA is left alone, as by most programs that read pictures.
void PngReader::set_transforms() {
  if (header_.info.palette) png_set_palette_to_rgb(handles_.png);
  if (header_.inks == Inks::kGrey && header_.info.bits < 8)
    png_set_expand_gray_1_2_4_to_8(handles_.png);
  if (transparent_colour_) png_set_tRNS_to_alpha(handles_.png);
  if (header_.bits == 16 && std::endian::native == std::endian::little) png_set_swap(handles_.png);
}

// Deflate makes at most 1032 bytes of one: a huge picture in a small file takes no memory.
void PngReader::check_plausible() const {
  constexpr double kMostOfOneByte = 1032;
  const PictureInfo& info = header_.info;
  const double bits = static_cast<double>(info.bits) * (info.palette ? 1 : info.channels);
  const double bytes =
      static_cast<double>(info.width) * static_cast<double>(info.height) * bits / 8;
  check(bytes <= kMostOfOneByte * static_cast<double>(source_.bytes.size()), name_,
        " is truncated: its ", source_.bytes.size(), " bytes cannot hold ", info.width, "x",
        info.height, " pixels");
}

void PngReader::read_interlaced(int passes, const TakeRow& take) {
  const auto height = static_cast<size_t>(header_.info.height);
  const std::unique_ptr<uint8_t[]> whole(new uint8_t[row_bytes_ * height]);
  for (int pass = 0; pass < passes; ++pass)
    for (size_t y = 0; y < height; ++y)
      guarded([&] { png_read_row(handles_.png, whole.get() + y * row_bytes_, nullptr); });
  for (size_t y = 0; y < height; ++y) take(static_cast<int64_t>(y), whole.get() + y * row_bytes_);
}

void PngReader::read_rows(const TakeRow& take) {
  check_plausible();
  int passes = 1;
  guarded([&] {
    set_transforms();
    passes = png_set_interlace_handling(handles_.png);
    png_read_update_info(handles_.png, handles_.info);
    row_bytes_ = png_get_rowbytes(handles_.png, handles_.info);
  });
  if (passes > 1) {
    read_interlaced(passes, take);
  } else {
    std::vector<uint8_t> row(row_bytes_);
    for (int64_t y = 0; y < header_.info.height; ++y) {
      guarded([&] { png_read_row(handles_.png, row.data(), nullptr); });
      take(y, row.data());
    }
  }
  guarded([&] { png_read_end(handles_.png, nullptr); });
}

}  // namespace

std::unique_ptr<PictureReader> open_png(std::string_view bytes, const std::string& name) {
  return std::make_unique<PngReader>(bytes, name);
}

}  // namespace intarsia::io
