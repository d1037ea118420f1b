#include <intarsia/draw.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "aten.h"
#include "check.h"
#include "io/font.h"

namespace intarsia::draw {
namespace {

constexpr Colour kPaper{255, 255, 255};
constexpr Colour kInk{32, 32, 32};
constexpr Colour kNoNumber{0, 220, 220};
constexpr int64_t kMargin = 8;
constexpr int64_t kGap = 6;

void check_picture(const at::Tensor& pixels) {
  check(pixels.defined() && pixels.dim() == 3 && pixels.size(2) == 3 && pixels.numel() > 0 &&
            pixels.scalar_type() == at::kByte,
        "pictures to draw are RGB uint8 [H, W, 3]");
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// What output element `index` of `out` takes of `in` input elements.
struct Cover {
  int64_t first = 0, last = 0;
  double begin = 0, end = 0;

  Cover(int64_t index, int64_t out, int64_t in) {
    const double size = static_cast<double>(in) / static_cast<double>(out);
    begin = static_cast<double>(index) * size;
    end = begin + size;
    first = static_cast<int64_t>(begin);
    last = std::min(in, static_cast<int64_t>(std::ceil(end)));
  }
  double weight(int64_t at) const {
    const double low = std::max(begin, static_cast<double>(at));
    const double high = std::min(end, static_cast<double>(at + 1));
    return std::max(high - low, 0.0) / (end - begin);
  }
};

// One row of the output, from `sums`: the input's rows under it, weighted and added up.
void squeeze_row(const std::vector<double>& sums, int64_t width, uint8_t* to) {
  const auto in = static_cast<int64_t>(sums.size()) / 3;
  for (int64_t x = 0; x < width; ++x) {
    const Cover cover(x, width, in);
    double colour[3] = {};
    for (int64_t at = cover.first; at < cover.last; ++at)
      for (int64_t c = 0; c < 3; ++c)
        colour[c] += cover.weight(at) * sums[static_cast<size_t>(3 * at + c)];
    for (const double value : colour)
      *to++ = static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
  }
}

// Values of a heat map: [H, W], not negative, NaN where there is no number.
at::Tensor magnitudes(const at::Tensor& difference) {
  check(difference.defined() && (difference.dim() == 2 || difference.dim() == 3) &&
            difference.numel() > 0 && !difference.is_complex(),
        "a heat map is drawn of differences [H, W] or [H, W, C]");
  at::Tensor values = difference.cpu().to(at::kDouble).abs();
  if (values.dim() == 3) values = std::get<0>(values.max(2));  // NaN wins
  return values.masked_fill(values.isinf(), std::nan("")).contiguous();
}

at::Tensor coloured(const at::Tensor& values, double scale) {
  std::array<Colour, 256> ramp;
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = ramp_colour(static_cast<double>(i) / 255);
  at::Tensor pixels = at::empty({values.size(0), values.size(1), 3}, at::kByte);
  const auto* from = values.data_ptr<double>();
  auto* to = pixels.data_ptr<uint8_t>();
  for (int64_t i = 0; i < values.numel(); ++i, to += 3) {
    Colour colour = kNoNumber;
    if (!std::isnan(from[i]))
      colour = ramp[static_cast<size_t>(std::lround(255 * std::min(from[i] / scale, 1.0)))];
    std::copy(colour.begin(), colour.end(), to);
  }
  return pixels;
}

// A bar of the ramp with numbers at its ends and in its middle.
void draw_legend(Canvas& canvas, int64_t top, double scale, int64_t without_number) {
  constexpr int64_t kBar = 12;
  const int64_t left = kMargin, right = canvas.width() - kMargin;
  for (int64_t x = left; x < right; ++x) {
    const double share = static_cast<double>(x - left) / static_cast<double>(right - left - 1);
    canvas.fill({x, top, x + 1, top + kBar}, ramp_colour(share));
  }
  canvas.frame({left, top, right, top + kBar}, kInk);
  const int64_t under = top + kBar + 4;
  const std::string middle = short_number(scale / 2), end = short_number(scale);
  canvas.text(left, under, "0", kInk);
  canvas.text((left + right - text_width(middle)) / 2, under, middle, kInk);
  canvas.text(right - text_width(end), under, end, kInk);
  if (without_number == 0) return;
  canvas.fill({left, under + 12, left + 8, under + 20}, kNoNumber);
  canvas.text(left + 12, under + 12, std::to_string(without_number) + " not finite", kInk);
}

std::vector<std::string> broken_lines(const std::string& text, int64_t width) {
  const auto letters = static_cast<size_t>(std::max<int64_t>((width + 1) / kLetterAdvance, 1));
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > letters)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    while (lines.back().size() > letters) {
      const std::string rest = lines.back().substr(letters);
      lines.back().resize(letters);
      lines.push_back(rest);
    }
  }
  return lines;
}

// All by one factor, so that the whole is no wider than max_width.
std::vector<at::Tensor> scaled_to_fit(std::vector<at::Tensor> pictures, int64_t max_width) {
  int64_t pixels = 0;
  for (const at::Tensor& picture : pictures) pixels += picture.size(1);
  const int64_t spaces = 2 * kMargin + kGap * static_cast<int64_t>(pictures.size() - 1);
  if (max_width <= 0 || pixels + spaces <= max_width) return pictures;
  const int64_t room = max_width - spaces;
  check(room >= static_cast<int64_t>(pictures.size()), "a width of ", max_width,
        " pixels has no room for ", pictures.size(), " pictures side by side");
  const double factor = static_cast<double>(room) / static_cast<double>(pixels);
  for (at::Tensor& picture : pictures) {
    const auto extent = [&](int64_t size) {
      return std::max<int64_t>(static_cast<int64_t>(static_cast<double>(size) * factor), 1);
    };
    picture = scale_down(picture, extent(picture.size(0)), extent(picture.size(1)));
  }
  return pictures;
}

}  // namespace

at::Tensor scale_down(const at::Tensor& pixels, int64_t height, int64_t width) {
  check_picture(pixels);
  check(height >= 1 && width >= 1 && height <= pixels.size(0) && width <= pixels.size(1),
        "a picture of ", pixels.size(1), "x", pixels.size(0), " cannot be scaled down to ", width,
        "x", height);
  const at::Tensor from = pixels.cpu().contiguous();
  at::Tensor to = at::empty({height, width, 3}, at::kByte);
  const int64_t row = from.size(1) * 3;
  std::vector<double> sums(static_cast<size_t>(row));
  for (int64_t y = 0; y < height; ++y) {
    const Cover cover(y, height, from.size(0));
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t at = cover.first; at < cover.last; ++at) {
      const auto* line = from.data_ptr<uint8_t>() + at * row;
      const double weight = cover.weight(at);
      for (int64_t i = 0; i < row; ++i) sums[static_cast<size_t>(i)] += weight * line[i];
    }
    squeeze_row(sums, width, to.data_ptr<uint8_t>() + y * width * 3);
  }
  return to;
}

at::Tensor heat_map(const at::Tensor& difference, double scale) {
  constexpr int64_t kNarrowest = 160;
  const at::Tensor values = magnitudes(difference);
  const int64_t without_number = values.isnan().sum().item<int64_t>();
  if (!(scale > 0)) scale = values.nan_to_num(0).max().item<double>();
  const int64_t width = std::max(values.size(1), kNarrowest), height = values.size(0);
  Canvas canvas(height + (without_number > 0 ? 52 : 40), width, kPaper);
  canvas.paste(coloured(values, scale > 0 ? scale : 1), (width - values.size(1)) / 2, 0);
  draw_legend(canvas, height + kMargin, scale, without_number);
  return canvas.pixels();
}

at::Tensor beside(const std::vector<at::Tensor>& pictures_in,
                  const std::vector<std::string>& captions, int64_t max_width) {
  check(!pictures_in.empty(), "there is no picture to put side by side");
  check(pictures_in.size() == captions.size(), pictures_in.size(), " pictures have ",
        captions.size(), " captions; give one for each (it may be empty)");
  for (const at::Tensor& picture : pictures_in) check_picture(picture);
  const auto pictures = scaled_to_fit(pictures_in, max_width);
  int64_t width = 2 * kMargin - kGap, tallest = 0, lines = 0;
  std::vector<std::vector<std::string>> texts;
  for (size_t i = 0; i < pictures.size(); ++i) {
    width += pictures[i].size(1) + kGap;
    tallest = std::max(tallest, pictures[i].size(0));
    texts.push_back(broken_lines(captions[i], pictures[i].size(1)));
    if (!captions[i].empty()) lines = std::max(lines, static_cast<int64_t>(texts.back().size()));
  }
  const int64_t below = lines > 0 ? kGap + lines * kLineAdvance : 0;
  Canvas canvas(2 * kMargin + tallest + below, width, kPaper);
  int64_t left = kMargin;
  for (size_t i = 0; i < pictures.size(); ++i) {
    canvas.paste(pictures[i], left, kMargin);
    int64_t top = kMargin + pictures[i].size(0) + kGap;
    for (const std::string& line : texts[i]) {
      canvas.text(left, top, line, kInk);
      top += kLineAdvance;
    }
    left += pictures[i].size(1) + kGap;
  }
  return canvas.pixels();
}

}  // namespace intarsia::draw
