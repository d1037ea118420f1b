#include <intarsia/draw.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "aten.h"
#include "check.h"
#include "io/font.h"

namespace intarsia::draw {
namespace {

at::Tensor checked_copy(const at::Tensor& pixels) {
  check(pixels.defined() && pixels.dim() == 3 && pixels.size(2) == 3 &&
            pixels.scalar_type() == at::kByte,
        "a canvas is made of RGB uint8 pixels [H, W, 3]");
  return pixels.cpu().contiguous().clone();
}

Box within(const Box& box, const at::Tensor& pixels) {
  return {std::max<int64_t>(box.left, 0), std::max<int64_t>(box.top, 0),
          std::min(box.right, pixels.size(1)), std::min(box.bottom, pixels.size(0))};
}

bool is_empty(const Box& box) { return box.left >= box.right || box.top >= box.bottom; }

// One box a character of UTF-8: its bytes after the first are passed over.
bool begins_character(unsigned char byte) { return (byte & 0xc0) != 0x80; }

}  // namespace

Canvas::Canvas(int64_t height, int64_t width, Colour background) {
  check(height > 0 && width > 0, "a canvas has at least one pixel, not ", width, "x", height);
  pixels_ = at::empty({height, width, 3}, at::kByte);
  fill({0, 0, width, height}, background);
}

Canvas::Canvas(const at::Tensor& pixels) : pixels_(checked_copy(pixels)) {}

void Canvas::fill(const Box& box, Colour colour, double opacity) {
  check(opacity >= 0 && opacity <= 1, "opacity is within 0 to 1, not ", opacity);
  const Box part = within(box, pixels_);
  for (int64_t y = part.top; y < part.bottom; ++y) {
    auto* at = pixels_.data_ptr<uint8_t>() + (y * width() + part.left) * 3;
    for (int64_t i = 0; i < (part.right - part.left) * 3; ++i) {
      const double mixed = at[i] + (colour[static_cast<size_t>(i % 3)] - at[i]) * opacity;
      at[i] = static_cast<uint8_t>(std::lround(mixed));
    }
  }
}

void Canvas::frame(const Box& box, Colour colour, int64_t thickness) {
  const int64_t top = std::min(box.top + thickness, box.bottom);
  const int64_t bottom = std::max(box.bottom - thickness, top);
  fill({box.left, box.top, box.right, top}, colour);
  fill({box.left, bottom, box.right, box.bottom}, colour);
  fill({box.left, top, std::min(box.left + thickness, box.right), bottom}, colour);
  fill({std::max(box.right - thickness, box.left), top, box.right, bottom}, colour);
}

void Canvas::line(int64_t x0, int64_t y0, int64_t x1, int64_t y1, Colour colour) {
  const int64_t steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), int64_t{1}});
  for (int64_t i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    const int64_t x = x0 + std::llround(static_cast<double>(x1 - x0) * share);
    const int64_t y = y0 + std::llround(static_cast<double>(y1 - y0) * share);
    fill({x, y, x + 1, y + 1}, colour);
  }
}

void Canvas::text(int64_t left, int64_t top, const std::string& text, Colour colour,
                  int64_t scale) {
  check(scale >= 1, "text is scaled by 1 or more, not ", scale);
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (!begins_character(letter)) continue;
    for (int row = 0; row < kLetterRows; ++row)
      for (int column = 0; column < kLetterColumns; ++column)
        if (letter_has(letter, row, column))
          fill({left + column * scale, top + row * scale, left + (column + 1) * scale,
                top + (row + 1) * scale},
               colour);
    left += kLetterAdvance * scale;
  }
}

void Canvas::paste(const at::Tensor& pixels, int64_t left, int64_t top) {
  const at::Tensor from = checked_copy(pixels);
  const Box part = within({left, top, left + from.size(1), top + from.size(0)}, pixels_);
  if (is_empty(part)) return;
  const int64_t rows = part.bottom - part.top, columns = part.right - part.left;
  pixels_.narrow(0, part.top, rows)
      .narrow(1, part.left, columns)
      .copy_(from.narrow(0, part.top - top, rows).narrow(1, part.left - left, columns));
}

int64_t text_width(const std::string& text, int64_t scale) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return begins_character(static_cast<unsigned char>(c));
  });
  return letters == 0 ? 0 : (letters * kLetterAdvance - 1) * scale;
}

}  // namespace intarsia::draw
