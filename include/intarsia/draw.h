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
  /// Inside the box, along its edges.
  void frame(const Box& box, Colour colour, int64_t thickness = 1);
  /// From pixel to pixel, both included.
  void line(int64_t x0, int64_t y0, int64_t x1, int64_t y1, Colour colour);
  /// ASCII, 6×8 pixels a letter times `scale`; left, top: of the first letter. A character outside
  /// of ASCII (in UTF-8) becomes a hollow box. One line: a newline is such a box as well.
  void text(int64_t left, int64_t top, const std::string& text, Colour colour, int64_t scale = 1);
  /// RGB uint8 [h, w, 3] with its corner at left, top.
  void paste(const at::Tensor& pixels, int64_t left, int64_t top);

  int64_t height() const { return pixels_.size(0); }
  int64_t width() const { return pixels_.size(1); }
  const at::Tensor& pixels() const { return pixels_; }  ///< RGB uint8 [H, W, 3]

 private:
  at::Tensor pixels_;
};

/// Width in pixels of a line of text.
int64_t text_width(const std::string& text, int64_t scale = 1);

/// Distinct colours; the first seven are told apart by the colour-blind too. They never end, but
/// late ones are alike. rank is not negative.
Colour rank_colour(int64_t rank);

/// Black or white, whichever is easier to read on `background`.
Colour ink_on(Colour background);

/// A colour of the ramp of heat maps: 0 nearly black … 1 nearly white, evenly brighter to the eye.
Colour ramp_colour(double share);

/// |differences| [H, W], or [H, W, C] (the largest of a pixel's channels), as colours from dark (0)
/// to bright (`scale` and above), with a legend of numbers below. scale ≤ 0: the largest value
/// there is. NaN and infinity are drawn cyan, and the legend says so. RGB uint8.
at::Tensor heat_map(const at::Tensor& difference, double scale = 0);

/// RGB uint8 pictures side by side with captions below (broken into lines where they are wider than
/// the picture). max_width: of the whole; pictures are scaled down to it by a box filter (0:
/// never). Throws std::invalid_argument if there is no picture, captions are not as many as
/// pictures, or max_width leaves no room.
at::Tensor beside(const std::vector<at::Tensor>& pictures, const std::vector<std::string>& captions,
                  int64_t max_width = 0);

/// RGB uint8 [H, W, 3] scaled down to [height, width, 3]: each pixel is the mean of what it covers.
at::Tensor scale_down(const at::Tensor& pixels, int64_t height, int64_t width);

}  // namespace intarsia::draw
