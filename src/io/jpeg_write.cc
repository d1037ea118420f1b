#include <cstdio>
// jpeglib.h needs FILE
#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>

#include "aten.h"
#include "io/picture_reader.h"

namespace intarsia::io {
namespace {

constexpr int kFullColour = 90;  // from this quality up colours are not halved in resolution

struct Sink {
  jpeg_error_mgr errors{};
  jpeg_destination_mgr target{};
  std::string bytes;
  std::array<JOCTET, 65536> buffer;
  char message[JMSG_LENGTH_MAX] = "";
  std::jmp_buf back;
};

Sink& sink_of(j_compress_ptr jpeg) { return *static_cast<Sink*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto* sink = static_cast<Sink*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, sink->message);
  std::longjmp(sink->back, 1);
}

void on_message(j_common_ptr, int) {}

void on_start(j_compress_ptr jpeg) {
  Sink& sink = sink_of(jpeg);
  sink.target.next_output_byte = sink.buffer.data();
  sink.target.free_in_buffer = sink.buffer.size();
}

// No exception may cross libjpeg.
bool append(Sink& sink, size_t count) noexcept {
  try {
    sink.bytes.append(reinterpret_cast<const char*>(sink.buffer.data()), count);
    return true;
  } catch (...) {
    return false;
  }
}

void flush(j_compress_ptr jpeg, size_t count) {
  if (!append(sink_of(jpeg), count)) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
}

boolean on_full(j_compress_ptr jpeg) {
  flush(jpeg, sink_of(jpeg).buffer.size());
  on_start(jpeg);
  return TRUE;
}

void on_finish(j_compress_ptr jpeg) {
  flush(jpeg, sink_of(jpeg).buffer.size() - sink_of(jpeg).target.free_in_buffer);
}

class JpegWriter {
 public:
  JpegWriter() {
    jpeg_.err = jpeg_std_error(&sink_.errors);
    jpeg_.client_data = &sink_;
    sink_.errors.error_exit = on_error;
    sink_.errors.emit_message = on_message;
    sink_.target.init_destination = on_start;
    sink_.target.empty_output_buffer = on_full;
    sink_.target.term_destination = on_finish;
  }
  ~JpegWriter() { jpeg_destroy_compress(&jpeg_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  void begin(JDIMENSION height, JDIMENSION width, int channels, int quality) {
    guarded([&] {
      jpeg_create_compress(&jpeg_);
      jpeg_.dest = &sink_.target;
      jpeg_.image_width = width;
      jpeg_.image_height = height;
      jpeg_.input_components = channels;
      jpeg_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_set_defaults(&jpeg_);
      jpeg_set_quality(&jpeg_, quality, TRUE);
      if (quality >= kFullColour)
        jpeg_.comp_info[0].h_samp_factor = jpeg_.comp_info[0].v_samp_factor = 1;
      jpeg_start_compress(&jpeg_, TRUE);
    });
  }
  void row(uint8_t* samples) {
    guarded([&] { jpeg_write_scanlines(&jpeg_, &samples, 1); });
  }
  std::string end() {
    guarded([&] { jpeg_finish_compress(&jpeg_); });
    return std::move(sink_.bytes);
  }

 private:
  // libjpeg leaves by longjmp: `step` must own nothing and call nothing that throws.
  template <class Step>
  void guarded(const Step& step) {
    if (setjmp(sink_.back) != 0) fail();
    step();
  }
  [[noreturn]] void fail() const {
    throw std::runtime_error(std::string("libjpeg cannot encode the picture: ") + sink_.message);
  }

  Sink sink_;
  jpeg_compress_struct jpeg_{};
};

}  // namespace

std::string encode_jpeg(const at::Tensor& pixels, int quality) {
  const int64_t row = pixels.size(1) * pixels.size(2);
  const auto writer = std::make_unique<JpegWriter>();  // its buffer is large for a stack
  writer->begin(static_cast<JDIMENSION>(pixels.size(0)), static_cast<JDIMENSION>(pixels.size(1)),
                static_cast<int>(pixels.size(2)), quality);
  for (int64_t y = 0; y < pixels.size(0); ++y) writer->row(pixels.data_ptr<uint8_t>() + y * row);
  return writer->end();
}

}  // namespace intarsia::io
