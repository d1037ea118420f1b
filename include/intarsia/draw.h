#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// Simple pictures: plans, heat maps, pictures side by side.
namespace intarsia::draw {

using Colour = std::array<uint8_t, 3>;

/// Pixels [left, right) × [top, bottom). What is outside of a canvas is not drawn.
struct Box {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};

class Canvas {
 public:
  Canvas(int64_t height, int64_t width, Colour background);
  /// A copy of RGB uint8 [H, W, 3].
  explicit Canvas(const at::Tensor& pixels);

  /// opacity: 0 nothing … 1 covers.
  void fill(const Box& box, Colour colour, double opacity = 1);
  void frame(const Box& box, Colour colour, int64_t thickness = 1);
  void line(int64_t x0, int64_t y0, int64_t x1, int64_t y1, Colour colour);
  /// ASCII, 6×8 pixels a letter times `scale`; left, top: of the first letter. Others become "?".
  void text(int64_t left, int64_t top, const std::string& text, Colour colour, int64_t scale = 1);
  /// RGB uint8 [h, w, 3] with its corner at left, top.
  void paste(const at::Tensor& pixels, int64_t left, int64_t top);

  const at::Tensor& pixels() const { return pixels_; }  ///< RGB uint8 [H, W, 3]

 private:
  at::Tensor pixels_;
};

/// Width in pixels of a line of text.
int64_t text_width(const std::string& text, int64_t scale = 1);

/// Distinct colours, told apart also by the colour-blind; repeats after a dozen or so.
Colour rank_colour(int64_t rank);

/// Values [H, W] as colours from dark (0) to bright (largest), with a legend of numbers below.
/// largest ≤ 0: the largest value there is.
at::Tensor heat_map(const at::Tensor& values, double largest = 0);

/// RGB uint8 pictures side by side, captions below. max_width: of the whole; larger ones are scaled
/// down by a box filter (0: never).
at::Tensor beside(const std::vector<at::Tensor>& pictures, const std::vector<std::string>& captions,
                  int64_t max_width = 0);

}  // namespace intarsia::draw
