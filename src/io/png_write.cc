#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstdio>

#include "aten.h"
#include "check.h"
#include "io/picture_reader.h"

namespace intarsia::io {
namespace {

// Measured on a photo of 1536x1024: 83 ms and 1.9 MB; libpng's defaults (level 6, all filters) take
// 530 ms for 1.6 MB.
constexpr int kLevel = 2;
constexpr png_uint_32 kLargestExtent = 0x7fffffff;

struct Sink {
  std::string bytes;
  char message[200] = "";
  std::jmp_buf back;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* sink = static_cast<Sink*>(png_get_error_ptr(png));
  std::snprintf(sink->message, sizeof sink->message, "%s", message);
  std::longjmp(sink->back, 1);
}

void on_warning(png_structp, png_const_charp) {}
void on_flush(png_structp) {}

// No exception may cross libpng.
bool append(Sink& sink, png_bytep data, size_t count) noexcept {
  try {
    sink.bytes.append(reinterpret_cast<const char*>(data), count);
    return true;
  } catch (...) {
    return false;
  }
}

void on_write(png_structp png, png_bytep data, size_t count) {
  if (!append(*static_cast<Sink*>(png_get_io_ptr(png)), data, count))
    png_error(png, "out of memory");
}

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink_, on_error, on_warning);
    TORCH_CHECK(png_ != nullptr, "libpng does not start");
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  void begin(png_uint_32 height, png_uint_32 width, int channels, int bits) {
    guarded([&] {
      info_ = png_create_info_struct(png_);
      png_set_write_fn(png_, &sink_, on_write, on_flush);
      png_set_user_limits(png_, kLargestExtent, kLargestExtent);
      png_set_compression_level(png_, kLevel);
      png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
      png_set_IHDR(png_, info_, width, height, bits,
                   channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (bits == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
    });
  }
  void row(const void* samples) {
    guarded([&] { png_write_row(png_, static_cast<png_const_bytep>(samples)); });
  }
  std::string end() {
    guarded([&] { png_write_end(png_, nullptr); });
    return std::move(sink_.bytes);
  }

 private:
  // libpng leaves by longjmp: `step` must own nothing and call nothing that throws.
  template <class Step>
  void guarded(const Step& step) {
    if (setjmp(sink_.back) != 0) fail();
    step();
  }
  [[noreturn]] void fail() const {
    throw std::runtime_error(std::string("libpng cannot encode the picture: ") + sink_.message);
  }

  Sink sink_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

std::string encode_png(const at::Tensor& pixels) {
  constexpr int64_t kLargest = kLargestExtent;
  const int64_t height = pixels.size(0), row = pixels.size(1) * pixels.size(2);
  check(height <= kLargest && pixels.size(1) <= kLargest, pixels.size(1), "x", height,
        " pixels are too large for a PNG");
  const bool deep = pixels.scalar_type() == at::kInt;
  PngWriter writer;
  writer.begin(static_cast<png_uint_32>(height), static_cast<png_uint_32>(pixels.size(1)),
               static_cast<int>(pixels.size(2)), deep ? 16 : 8);
  std::vector<uint16_t> samples(deep ? static_cast<size_t>(row) : 0);
  for (int64_t y = 0; y < height; ++y) {
    if (deep) {
      const auto* from = pixels.data_ptr<int32_t>() + y * row;
      std::transform(from, from + row, samples.begin(),
                     [](int32_t value) { return static_cast<uint16_t>(value); });
      writer.row(samples.data());
    } else {
      writer.row(pixels.data_ptr<uint8_t>() + y * row);
    }
  }
  return writer.end();
}

}  // namespace intarsia::io
