#include "io/video_files.h"

namespace intarsia::test {
namespace {

void must(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("cannot make a video: ") + what);
}

struct CloseMuxer {
  void operator()(AVFormatContext* p) const {
    avio_closep(&p->pb);
    avformat_free_context(p);
  }
};

io::Owned<AVCodecContext> open_encoder(const VideoRecipe& recipe, bool global_header) {
  const AVCodec* codec = avcodec_find_encoder_by_name(recipe.codec.c_str());
  must(codec != nullptr, recipe.codec.c_str());
  io::Owned<AVCodecContext> encoder(avcodec_alloc_context3(codec));
  encoder->width = recipe.width;
  encoder->height = recipe.height;
  encoder->pix_fmt = recipe.format;
  encoder->time_base = {1, 1000};
  if (recipe.stamps.empty()) encoder->time_base = {1, 10};
  encoder->colorspace = recipe.space;
  encoder->color_range = recipe.range;
  encoder->max_b_frames = recipe.b_frames;
  encoder->gop_size = 12;
  encoder->bit_rate = 4'000'000;
  if (global_header) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  must(avcodec_open2(encoder.get(), codec, nullptr) >= 0, "the encoder does not open");
  return encoder;
}

void set_matrix(AVStream& stream, const std::array<int32_t, 9>& matrix) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
  AVPacketSideData* side = av_packet_side_data_new(&stream.codecpar->coded_side_data,
                                                   &stream.codecpar->nb_coded_side_data,
                                                   AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix, 0);
  must(side != nullptr, "side data");
  uint8_t* data = side->data;
#else
  uint8_t* data = av_stream_new_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix);
#endif
  std::memcpy(data, matrix.data(), sizeof matrix);
}

io::Owned<AVFrame> frame_of(const VideoRecipe& recipe, size_t index) {
  io::Owned<AVFrame> frame(av_frame_alloc());
  frame->format = recipe.format;
  frame->width = recipe.width;
  frame->height = recipe.height;
  frame->colorspace = recipe.space;
  frame->color_range = recipe.range;
  must(av_frame_get_buffer(frame.get(), 0) >= 0, "a frame");
  const auto& planes = recipe.frames[index];
  for (size_t p = 0; p < planes.size(); ++p) {
    const at::Tensor plane = planes[p].contiguous();
    for (int64_t y = 0; y < plane.size(0); ++y)
      std::memcpy(frame->data[p] + y * frame->linesize[p],
                  plane.data_ptr<uint8_t>() + y * plane.size(1),
                  static_cast<size_t>(plane.size(1)));
  }
  frame->pts = recipe.stamps.empty() ? static_cast<int64_t>(index) : recipe.stamps[index];
  return frame;
}

}  // namespace

VideoRecipe rgb_video(const std::vector<at::Tensor>& frames) {
  VideoRecipe recipe;
  recipe.height = static_cast<int>(frames.at(0).size(0));
  recipe.width = static_cast<int>(frames.at(0).size(1));
  for (const at::Tensor& rgb : frames)
    recipe.frames.push_back({rgb.contiguous().view({rgb.size(0), -1})});
  return recipe;
}

void write_video(const std::filesystem::path& path, const VideoRecipe& recipe) {
  AVFormatContext* raw = nullptr;
  must(avformat_alloc_output_context2(&raw, nullptr, nullptr, path.c_str()) >= 0, "a container");
  const std::unique_ptr<AVFormatContext, CloseMuxer> file(raw);
  const auto encoder = open_encoder(recipe, (raw->oformat->flags & AVFMT_GLOBALHEADER) != 0);
  AVStream* stream = avformat_new_stream(raw, nullptr);
  stream->time_base = encoder->time_base;
  avcodec_parameters_from_context(stream->codecpar, encoder.get());
  if (recipe.matrix) set_matrix(*stream, *recipe.matrix);
  must(avio_open(&raw->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0, "a file");
  must(avformat_write_header(raw, nullptr) >= 0, "a header");
  const io::Owned<AVPacket> packet(av_packet_alloc());
  size_t packets = 0;
  for (size_t i = 0; i <= recipe.frames.size(); ++i) {
    const auto frame = i < recipe.frames.size() ? frame_of(recipe, i) : nullptr;
    must(avcodec_send_frame(encoder.get(), frame.get()) >= 0, "encoding");
    while (avcodec_receive_packet(encoder.get(), packet.get()) >= 0) {
      if (recipe.rubbish.contains(packets++)) {
        must(av_packet_make_writable(packet.get()) >= 0, "a packet");
        std::memset(packet->data, 0x5a, static_cast<size_t>(packet->size));
      }
      if (packet->duration == 0)
        packet->duration = recipe.stamps.empty() ? 1 : 100;  // or players end a frame early
      av_packet_rescale_ts(packet.get(), encoder->time_base, stream->time_base);
      packet->stream_index = 0;
      must(av_interleaved_write_frame(raw, packet.get()) >= 0, "writing");
    }
  }
  must(av_write_trailer(raw) >= 0, "a trailer");
}

}  // namespace intarsia::test
