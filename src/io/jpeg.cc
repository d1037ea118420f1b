#include <cstdio>
// jpeglib.h needs FILE
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstring>

#include "check.h"
#include "io/exif.h"
#include "io/picture_reader.h"

namespace intarsia::io {
namespace {

using namespace std::string_view_literals;

constexpr unsigned kMostMarkerBytes = 0xffff;
constexpr int kMostScans = 500;  // real progressive files have about ten; each costs a full pass

// What the callbacks reach through libjpeg.
struct State {
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  bool truncated = false;
  char message[JMSG_LENGTH_MAX] = "";
  std::jmp_buf back;
};

State& state_of(j_common_ptr jpeg) { return *static_cast<State*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  State& state = state_of(jpeg);
  jpeg->err->format_message(jpeg, state.message);
  std::longjmp(state.back, 1);
}

// libjpeg goes on with grey where data are corrupt and only warns; here that is an error.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  const int code = jpeg->err->msg_code;
  if (code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR) on_error(jpeg);
}

boolean on_end(j_decompress_ptr jpeg) {
  auto* common = reinterpret_cast<j_common_ptr>(jpeg);
  state_of(common).truncated = true;
  jpeg->err->msg_code = JERR_INPUT_EOF;
  on_error(common);
}

void on_skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  if (static_cast<size_t>(count) > jpeg->src->bytes_in_buffer) on_end(jpeg);
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= static_cast<size_t>(count);
}

void on_progress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  std::snprintf(state_of(jpeg).message, JMSG_LENGTH_MAX, "it has more than %d scans", kMostScans);
  std::longjmp(state_of(jpeg).back, 1);
}

void do_nothing(j_decompress_ptr) {}

std::string_view data_of(const jpeg_marker_struct& marker) {
  return {reinterpret_cast<const char*>(marker.data), marker.data_length};
}

constexpr auto kExif = "Exif\0\0"sv;
constexpr auto kIcc = "ICC_PROFILE\0"sv;

// Frees what libjpeg holds, also where the reader's constructor throws.
struct Handle {
  jpeg_decompress_struct jpeg{};
  Handle() = default;
  ~Handle() { jpeg_destroy_decompress(&jpeg); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

class JpegReader : public PictureReader {
 public:
  JpegReader(std::string_view bytes, std::string name) : name_(std::move(name)), bytes_(bytes) {
    connect();
    guarded([&] {
      jpeg_create_decompress(&jpeg_);
      jpeg_.src = &state_.source;
      jpeg_.progress = &state_.progress;
      jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, kMostMarkerBytes);
      jpeg_save_markers(&jpeg_, JPEG_APP0 + 2, kMostMarkerBytes);
      jpeg_read_header(&jpeg_, TRUE);
    });
    take_header();
    take_profile();
  }

  void read_rows(const TakeRow& take) override;

 private:
  // libjpeg leaves by longjmp: `step` must own nothing and call nothing that throws.
  template <class Step>
  void guarded(const Step& step) {
    if (setjmp(state_.back) != 0) fail();
    step();
  }
  [[noreturn]] void fail() const;
  void connect();
  void take_header();
  void take_profile();

  std::string name_;
  std::string_view bytes_;
  State state_;
  Handle handle_;
  jpeg_decompress_struct& jpeg_ = handle_.jpeg;
};

void JpegReader::fail() const {
  check(!state_.truncated, name_, " is truncated: the JPEG goes on after its ", bytes_.size(),
        " bytes");
  throw std::invalid_argument(name_ + " is a broken JPEG: " + state_.message);
}

void JpegReader::connect() {
  jpeg_.err = jpeg_std_error(&state_.errors);
  jpeg_.client_data = &state_;
  state_.errors.error_exit = on_error;
  state_.errors.emit_message = on_message;
  state_.progress.progress_monitor = on_progress;
  state_.source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes_.data());
  state_.source.bytes_in_buffer = bytes_.size();
  state_.source.init_source = do_nothing;
  state_.source.fill_input_buffer = on_end;
  state_.source.skip_input_data = on_skip;
  state_.source.resync_to_restart = jpeg_resync_to_restart;
  state_.source.term_source = do_nothing;
}

void JpegReader::take_header() {
  PictureInfo& info = header_.info;
  info.format = "jpeg";
  info.width = jpeg_.image_width;
  info.height = jpeg_.image_height;
  info.bits = jpeg_.data_precision;
  info.channels = jpeg_.num_components;
  check(info.bits == 8, name_, " has ", info.bits, " bits a channel; JPEGs of 8 bits can be read");
  check(info.channels == 1 || info.channels == 3 || info.channels == 4, name_, " has ",
        info.channels, " channels; JPEGs with 1, 3 or 4 can be read");
  for (auto* m = jpeg_.marker_list; m != nullptr; m = m->next) {
    if (m->marker != JPEG_APP0 + 1 || !data_of(*m).starts_with(kExif)) continue;
    info.orientation = exif_orientation(data_of(*m).substr(kExif.size()));
    break;
  }
  header_.inks = info.channels == 1 ? Inks::kGrey : info.channels == 3 ? Inks::kRgb : Inks::kCmyk;
}

// A profile comes in numbered pieces, "piece i of n", as a marker holds no more than 64 KB.
void JpegReader::take_profile() {
  std::vector<std::string_view> pieces;
  bool whole = true;
  size_t found = 0;
  for (auto* m = jpeg_.marker_list; m != nullptr; m = m->next) {
    const std::string_view data = data_of(*m);
    if (m->marker != JPEG_APP0 + 2 || !data.starts_with(kIcc) || data.size() < kIcc.size() + 2)
      continue;
    const size_t index = static_cast<unsigned char>(data[kIcc.size()]);
    const size_t count = static_cast<unsigned char>(data[kIcc.size() + 1]);
    if (pieces.empty()) pieces.resize(count);
    whole = whole && index >= 1 && index <= count && count == pieces.size() &&
            pieces[index - 1].empty();
    if (whole) pieces[index - 1] = data.substr(kIcc.size() + 2);
    ++found;
  }
  header_.info.has_icc = found > 0;
  if (whole && found == pieces.size()) {
    for (const auto& piece : pieces) header_.icc += piece;
  } else {
    header_.notes.emplace_back("its colour profile is broken and was ignored");
  }
}

void JpegReader::read_rows(const TakeRow& take) {
  guarded([&] {
    jpeg_.out_color_space = header_.inks == Inks::kGrey  ? JCS_GRAYSCALE
                            : header_.inks == Inks::kRgb ? JCS_RGB
                                                         : JCS_CMYK;
    jpeg_.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&jpeg_);
  });
  std::vector<uint8_t> row(static_cast<size_t>(jpeg_.output_width) *
                           static_cast<size_t>(jpeg_.output_components));
  JSAMPROW rows[] = {row.data()};
  while (jpeg_.output_scanline < jpeg_.output_height) {
    const auto y = static_cast<int64_t>(jpeg_.output_scanline);
    guarded([&] { jpeg_read_scanlines(&jpeg_, rows, 1); });
    take(y, row.data());
  }
  guarded([&] { jpeg_finish_decompress(&jpeg_); });
}

}  // namespace

std::unique_ptr<PictureReader> open_jpeg(std::string_view bytes, const std::string& name) {
  return std::make_unique<JpegReader>(bytes, name);
}

}  // namespace intarsia::io
