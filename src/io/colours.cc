#include <intarsia/draw.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "check.h"

namespace intarsia::draw {
namespace {

// Okabe and Ito's palette without black, bright ones first.
constexpr Colour kSafe[] = {{230, 159, 0},   {86, 180, 233}, {0, 158, 115}, {240, 228, 66},
                            {204, 121, 167}, {0, 114, 178},  {213, 94, 0}};
constexpr int64_t kSafeCount = std::size(kSafe);

// From linear light to what is stored, 0…1.
double encode(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}

double decode(double stored) {
  return stored <= 0.04045 ? stored / 12.92 : std::pow((stored + 0.055) / 1.055, 2.4);
}

struct Linear {
  double r, g, b;
  bool is_shown() const { return std::min({r, g, b}) >= -1e-6 && std::max({r, g, b}) <= 1 + 1e-6; }
};

// Ottosson's OKLab, whose lightness is even to the eye; hue in turns.
Linear from_oklch(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(2 * std::numbers::pi * hue);
  const double b = chroma * std::sin(2 * std::numbers::pi * hue);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

// Paler until a screen can show it.
Colour shown(double lightness, double chroma, double hue) {
  Linear colour = from_oklch(lightness, chroma, hue);
  for (; !colour.is_shown() && chroma > 0; colour = from_oklch(lightness, chroma, hue))
    chroma = std::max(chroma - 0.002, 0.0);
  Colour out{};
  const double parts[] = {colour.r, colour.g, colour.b};
  for (size_t i = 0; i < 3; ++i)
    out[i] = static_cast<uint8_t>(std::lround(255 * encode(std::clamp(parts[i], 0.0, 1.0))));
  return out;
}

}  // namespace

Colour rank_colour(int64_t rank) {
  check(rank >= 0, "ranks count from 0; ", rank, " has no colour");
  if (rank < kSafeCount) return kSafe[rank];
  const auto i = static_cast<double>(rank - kSafeCount);
  const double hue =
      std::fmod(0.32 + i * 0.3819660113, 1);  // the golden angle: never near the last
  constexpr double kLightness[] = {0.45, 0.82, 0.63};
  return shown(kLightness[rank % 3], 0.16, hue);
}

Colour ink_on(Colour background) {
  const double light = 0.2126 * decode(background[0] / 255.0) +
                       0.7152 * decode(background[1] / 255.0) +
                       0.0722 * decode(background[2] / 255.0);
  return light > 0.18 ? Colour{0, 0, 0} : Colour{255, 255, 255};
}

// Blue-black over violet, red and orange to a light yellow.
Colour ramp_colour(double share) {
  const double t = std::clamp(share, 0.0, 1.0);
  const double lightness = 0.13 + 0.84 * t;
  const double chroma = 0.03 + 0.17 * std::sin(std::numbers::pi * std::min(t * 0.92 + 0.04, 1.0));
  const double hue = std::fmod(0.76 + 0.54 * t, 1);
  return shown(lightness, chroma, hue);
}

}  // namespace intarsia::draw
