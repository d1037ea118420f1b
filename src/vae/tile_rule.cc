#include <intarsia/vae.h>

#include <cmath>

#include "aten.h"
#include "check.h"

namespace intarsia::vae {
namespace {

constexpr int64_t kUsualSampleSize = 512;

/// ⌊x⌋ as Python's int(), but a product such as 10·(1 − 0.9) = 0.99… counts as the 1 it stands for.
int64_t whole(double x) {
  const double near = std::nearbyint(x);
  return int64_t(std::abs(x - near) < 1e-9 * std::max(1.0, std::abs(x)) ? near : std::floor(x));
}

/// diffusers' numbers for tile M pixels and overlap ρ (vae.md 1.3.1), right or wrong.
TileRule diffusers_rule(int64_t pixels, double overlap, int64_t ratio, Direction direction) {
  const int64_t latent = pixels / ratio;
  TileRule r;
  if (direction == Direction::kDecode) {
    r.scale = {ratio, 1};
    r.tile = latent;
    r.stride = whole(double(latent) * (1 - overlap));
    r.blend = whole(double(pixels) * overlap);
    r.crop = pixels - r.blend;
  } else {
    r.scale = {1, ratio};
    r.tile = pixels;
    r.stride = whole(double(pixels) * (1 - overlap));
    r.blend = whole(double(latent) * overlap);
    r.crop = latent - r.blend;
  }
  return r;
}

bool works(int64_t pixels, double overlap, int64_t ratio) {
  return pixels >= ratio && pixels % ratio == 0 &&
         fault_of(diffusers_rule(pixels, overlap, ratio, Direction::kDecode)).empty() &&
         fault_of(diffusers_rule(pixels, overlap, ratio, Direction::kEncode)).empty();
}

/// The nearest settings that work: other tiles at this overlap, other overlaps at this tile.
std::string suggestion(int64_t pixels, double overlap, int64_t ratio) {
  std::vector<std::string> found;
  for (int64_t d = 1; d <= 64 * ratio && found.size() < 2; ++d) {
    if (works(pixels - d, overlap, ratio)) found.push_back(c10::str("tile ", pixels - d));
    if (works(pixels + d, overlap, ratio)) found.push_back(c10::str("tile ", pixels + d));
  }
  const int64_t base = std::max(pixels / ratio, int64_t{1});
  const int64_t k = std::lround(std::min(std::max(overlap, 0.0), 1.0) * double(base));
  for (const int64_t near : {k, k - 1, k + 1}) {
    const double rho = double(near) / double(base);
    if (near < 0 || near >= base || rho == overlap || !works(base * ratio, rho, ratio)) continue;
    found.push_back(c10::str("tile ", base * ratio, " with overlap ", rho));
    break;
  }
  std::string text;
  for (const std::string& f : found) text += (text.empty() ? "" : ", ") + f;
  return text.empty() ? "tile 512 with overlap 0.25" : text;
}

}  // namespace

TileRule tile_rule(const KlConfig& config, Direction direction, const TileSettings& settings) {
  const int64_t pixels = settings.tile.value_or(config.sample_size.value_or(kUsualSampleSize));
  const double overlap = settings.overlap;
  const int64_t f = config.ratio();
  check(overlap >= 0 && overlap < 1, "overlap is ", overlap,
        "; it is a share of a tile: 0 (no blending) or more, below 1; 0.25 is usual");
  check(pixels >= f, "a tile of ", pixels, " pixels is less than one latent unit of ", f,
        "; use a multiple of ", f, ", such as 512");
  check(pixels % f == 0, "a tile of ", pixels, " pixels is not a multiple of the ", f,
        " pixels of a latent unit, which would shift every tile; works: ",
        suggestion(pixels, overlap, f));
  const TileRule rule = diffusers_rule(pixels, overlap, f, direction);
  const std::string fault = fault_of(rule);
  check(fault.empty(), "tile ", pixels, " with overlap ", overlap, ": ", fault,
        "; works: ", suggestion(pixels, overlap, f));
  return rule;
}

}  // namespace intarsia::vae
