#include "io/picture_rows.h"

#include "check.h"

namespace intarsia::io {
namespace {

// a * b / 255, rounded to nearest: exact for bytes.
uint32_t of_255(uint32_t a, uint32_t b) {
  const uint32_t product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// Adobe's polarity: 255 is no ink, so that a colour is what its ink and the black let through.
void rgb_of_cmyk(const uint8_t* cmyk, uint8_t* rgb) {
  for (int i = 0; i < 3; ++i)
    rgb[i] = static_cast<uint8_t>(cmyk[3] - of_255(255U - cmyk[i], cmyk[3]));
}

template <class Sample>
uint64_t on_white(uint64_t value, uint64_t alpha) {
  constexpr uint64_t kPeak = std::numeric_limits<Sample>::max();
  return (value * alpha + kPeak * (kPeak - alpha) + kPeak / 2) / kPeak;
}

}  // namespace

RowsToRgb::RowsToRgb(const PictureHeader& header, std::vector<std::string>& notes)
    : inks_(header.inks),
      alpha_(header.alpha),
      width_(header.info.width),
      profile_(to_srgb(header, notes)) {
  if (inks_ == Inks::kCmyk) notes.emplace_back("CMYK was converted to RGB");
  if (alpha_) notes.emplace_back("its alpha was laid on white");
  const int64_t bytes = header.bits / 8;
  if (profile_ != nullptr) converted_.resize(static_cast<size_t>(width_ * 3 * bytes));
  TORCH_INTERNAL_ASSERT(inks_ != Inks::kCmyk || header.bits == 8);
}

template <class Sample, class Value>
void RowsToRgb::convert(const uint8_t* samples, Value* to) {
  const int inks = count_of(inks_);
  const int step = inks + (alpha_ ? 1 : 0);
  const auto* from = reinterpret_cast<const Sample*>(samples);
  const auto* rgb = reinterpret_cast<const Sample*>(converted_.data());
  if (profile_ != nullptr) profile_->row(samples, converted_.data(), width_);
  for (int64_t x = 0; x < width_; ++x, from += step, to += 3) {
    Sample cmyk_rgb[3];
    const Sample* colour = from;
    if (profile_ != nullptr) {
      colour = rgb + 3 * x;
    } else if constexpr (sizeof(Sample) == 1) {
      if (inks_ == Inks::kCmyk) {
        rgb_of_cmyk(from, cmyk_rgb);
        colour = cmyk_rgb;
      }
    }
    const bool grey = profile_ == nullptr && inks == 1;
    for (int c = 0; c < 3; ++c) {
      const Sample value = colour[grey ? 0 : c];
      to[c] = static_cast<Value>(alpha_ ? on_white<Sample>(value, from[inks]) : value);
    }
  }
}

void RowsToRgb::row(const uint8_t* samples, uint8_t* to) { convert<uint8_t>(samples, to); }
void RowsToRgb::row(const uint8_t* samples, int32_t* to) { convert<uint16_t>(samples, to); }

at::Tensor oriented(const at::Tensor& pixels, int orientation) {
  switch (orientation) {
    case 2:
      return pixels.flip(1);
    case 3:
      return pixels.flip({0, 1});
    case 4:
      return pixels.flip(0);
    case 5:
      return pixels.transpose(0, 1).contiguous();
    case 6:
      return pixels.transpose(0, 1).flip(1).contiguous();
    case 7:
      return pixels.transpose(0, 1).flip({0, 1}).contiguous();
    case 8:
      return pixels.transpose(0, 1).flip(0).contiguous();
    default:
      return pixels;
  }
}

}  // namespace intarsia::io
