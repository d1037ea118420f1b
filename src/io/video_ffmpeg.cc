#include <algorithm>

#include "aten.h"
#include "check.h"
#include "io/video_open.h"
#include "io/video_pixels.h"
#include "io/video_times.h"

namespace intarsia {

bool can_read_video_files() { return true; }

namespace io {
namespace {

std::string words_of(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

// FFmpeg prints what it thinks of broken files; our errors say it. A program that has chosen a
// level keeps it.
void be_quiet() {
  if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_FATAL);
}

// An open container and its video stream.
struct Source {
  Owned<AVFormatContext> file;
  AVStream* stream = nullptr;
  const AVCodec* decoder = nullptr;
};

Source open_source(const std::filesystem::path& path) {
  be_quiet();
  const std::string name = path.string();
  AVFormatContext* raw = nullptr;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);  // a playlist must not reach the network
  const int opened = avformat_open_input(&raw, ("file:" + name).c_str(), nullptr, &options);
  av_dict_free(&options);
  check(opened >= 0, name, " is not a video that FFmpeg can read: ", words_of(opened));
  Source source;
  source.file.reset(raw);
  const int found = avformat_find_stream_info(raw, nullptr);
  check(found >= 0, name, " is not a video that FFmpeg can read: ", words_of(found));
  const int best = av_find_best_stream(raw, AVMEDIA_TYPE_VIDEO, -1, -1, &source.decoder, 0);
  check(best != AVERROR_DECODER_NOT_FOUND, name, ": this FFmpeg has no decoder for its video");
  check(best >= 0 && (raw->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0, name,
        " has no video in it");
  for (unsigned i = 0; i < raw->nb_streams; ++i)
    raw->streams[i]->discard = static_cast<int>(i) == best ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  source.stream = raw->streams[best];
  return source;
}

const int32_t* display_matrix(const AVStream& stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
  const AVPacketSideData* data =
      av_packet_side_data_get(stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX);
  if (data == nullptr || data->size < 9 * sizeof(int32_t)) return nullptr;
  return reinterpret_cast<const int32_t*>(data->data);
#else
  size_t size = 0;
  const uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return size < 9 * sizeof(int32_t) ? nullptr : reinterpret_cast<const int32_t*>(data);
#endif
}

// When frames are shown, in the stream's units, ascending.
struct Stamps {
  std::vector<int64_t> shown;
  int64_t packets = 0;
  bool complete = true;  ///< every frame has one
  bool exact = true;     ///< and decoded frames have the same ones
};

Stamps read_stamps(const Source& source) {
  Stamps stamps;
  const Owned<AVPacket> packet(av_packet_alloc());
  for (; av_read_frame(source.file.get(), packet.get()) >= 0; av_packet_unref(packet.get())) {
    if (packet->stream_index != source.stream->index) continue;
    if ((packet->flags & AV_PKT_FLAG_DISCARD) != 0) continue;
    ++stamps.packets;
    const int64_t at = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (packet->pts == AV_NOPTS_VALUE) stamps.exact = false;  // AVI: only when to decode
    if (at == AV_NOPTS_VALUE) {
      stamps.complete = false;
    } else {
      stamps.shown.push_back(at);
    }
  }
  std::sort(stamps.shown.begin(), stamps.shown.end());
  const auto repeated = std::unique(stamps.shown.begin(), stamps.shown.end());
  stamps.shown.erase(repeated, stamps.shown.end());  // the fields of a frame
  if (!stamps.complete) stamps.shown.clear();
  return stamps;
}

Owned<AVCodecContext> open_decoder(const Source& source, int threads, const std::string& name) {
  Owned<AVCodecContext> decoder(avcodec_alloc_context3(source.decoder));
  const bool set = decoder != nullptr &&
                   avcodec_parameters_to_context(decoder.get(), source.stream->codecpar) >= 0;
  check(set, name, ": its video cannot be decoded");
  decoder->thread_count = threads;
  decoder->pkt_timebase = source.stream->time_base;
  const int opened = avcodec_open2(decoder.get(), source.decoder, nullptr);
  check(opened >= 0, name, ": its video cannot be decoded: ", words_of(opened));
  return decoder;
}

// Decodes in the order of showing and hands out what is wanted.
class Decoding {
 public:
  using Take = std::function<void(int64_t at, const AVFrame& frame)>;

  Decoding(const std::vector<int64_t>& stamps, const std::vector<int64_t>& wanted, Take take)
      : stamps_(stamps), wanted_(wanted), take_(std::move(take)), last_(av_frame_alloc()) {}

  void run(const Source& source, AVCodecContext& decoder) {
    const Owned<AVPacket> packet(av_packet_alloc());
    while (!done() && av_read_frame(source.file.get(), packet.get()) >= 0) {
      // A packet that is refused is a frame that is missing.
      if (packet->stream_index == source.stream->index) {
        // Frames that are neither wanted nor needed by others are not decoded.
        decoder.skip_frame = is_wanted(*packet) ? AVDISCARD_DEFAULT : AVDISCARD_NONREF;
        if (avcodec_send_packet(&decoder, packet.get()) >= 0) drain(decoder);
      }
      av_packet_unref(packet.get());
    }
    if (done()) return;
    avcodec_send_packet(&decoder, nullptr);
    drain(decoder);
  }

  /// What was wanted and did not come is the last frame that did.
  void finish(const std::string& name) {
    check(decoded_ > 0, name, ": none of its frames can be decoded");
    for (; !done(); ++missing_) give(*last_);
  }

  int64_t missing() const { return missing_; }
  int64_t damaged() const { return damaged_; }

 private:
  bool done() const { return next_ == wanted_.size(); }

  bool is_wanted(const AVPacket& packet) const {
    if (stamps_.empty() || packet.pts == AV_NOPTS_VALUE) return true;  // cannot be told
    const auto at = std::lower_bound(stamps_.begin(), stamps_.end(), packet.pts);
    return std::binary_search(wanted_.begin(), wanted_.end(), at - stamps_.begin());
  }

  void give(const AVFrame& frame) { take_(static_cast<int64_t>(next_++), frame); }

  void drain(AVCodecContext& decoder) {
    const Owned<AVFrame> frame(av_frame_alloc());
    while (!done() && avcodec_receive_frame(&decoder, frame.get()) >= 0) {
      const int64_t index = index_of(*frame);
      if ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0) ++damaged_;
      while (!done() && wanted_[next_] <= index) {
        if (wanted_[next_] < index) ++missing_;
        give(*frame);
      }
      av_frame_unref(last_.get());
      av_frame_move_ref(last_.get(), frame.get());
      ++decoded_;
    }
  }

  int64_t index_of(const AVFrame& frame) const {
    if (stamps_.empty() || frame.best_effort_timestamp == AV_NOPTS_VALUE) return decoded_;
    const auto at = std::lower_bound(stamps_.begin(), stamps_.end(), frame.best_effort_timestamp);
    return std::min<int64_t>(at - stamps_.begin(), static_cast<int64_t>(stamps_.size()) - 1);
  }

  const std::vector<int64_t>& stamps_;
  const std::vector<int64_t>& wanted_;
  Take take_;
  Owned<AVFrame> last_;
  size_t next_ = 0;
  int64_t decoded_ = 0;
  int64_t missing_ = 0;
  int64_t damaged_ = 0;
};

class FileReader : public VideoReader {
 public:
  FileReader(const std::filesystem::path& path, const VideoOptions& options)
      : path_(path), options_(options) {
    name_ = path.string();
    const Source source = open_source(path);
    const AVCodecParameters& video = *source.stream->codecpar;
    info_.format = source.file->iformat->name;
    info_.codec = avcodec_get_name(video.codec_id);
    info_.width = video.width;
    info_.height = video.height;
    check_frame_size(info_, name_, options);
    turn_ = turn_of(display_matrix(*source.stream));
    if (turn_.transposed) std::swap(info_.width, info_.height);
    read_times(source);
  }

 private:
  void read_times(const Source& source) {
    const double stated = av_q2d(
        source.stream->avg_frame_rate.den != 0 ? source.stream->avg_frame_rate : AVRational{0, 1});
    Stamps stamps = read_stamps(source);
    check(stamps.packets > 0, name_, " has no frame in its video");
    std::vector<double> seconds;
    for (const int64_t at : stamps.shown)
      seconds.push_back(static_cast<double>(at) * av_q2d(source.stream->time_base));
    if (seconds.empty())
      for (int64_t i = 0; i < stamps.packets; ++i)
        seconds.push_back(static_cast<double>(i) / (stated > 0 ? stated : 25));
    set_times(std::move(seconds), stated, info_);
    if (stamps.exact) stamps_ = std::move(stamps.shown);
  }

  std::vector<std::string> read_frames(const std::vector<int64_t>& indices,
                                       const TakeFrame& take) override {
    const Source source = open_source(path_);
    const Owned<AVCodecContext> decoder = open_decoder(source, options_.threads, name_);
    const bool swapped = turn_.transposed;
    PixelConverter converter(swapped ? info_.height : info_.width,
                             swapped ? info_.width : info_.height);
    Decoding decoding(stamps_, indices, [&](int64_t at, const AVFrame& frame) {
      take(at, turned(converter.rgb_of(frame, name_), turn_));
    });
    decoding.run(source, *decoder);
    decoding.finish(name_);
    std::vector<std::string> notes;
    if (decoding.missing() > 0)
      notes.push_back(c10::str(decoding.missing(), " of ", indices.size(),
                               " frames were missing; the nearest that could be decoded stand in"));
    if (decoding.damaged() > 0)
      notes.push_back(c10::str(decoding.damaged(), " frames are damaged"));
    return notes;
  }

  std::filesystem::path path_;
  VideoOptions options_;
  Turn turn_;
  std::vector<int64_t> stamps_;  ///< empty: frames are told by counting
};

}  // namespace

std::unique_ptr<VideoReader> open_video_file(const std::filesystem::path& file,
                                             const VideoOptions& options) {
  return std::make_unique<FileReader>(file, options);
}

}  // namespace io
}  // namespace intarsia
