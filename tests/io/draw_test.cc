#include <intarsia/draw.h>
#include <intarsia/picture.h>

#include <cmath>
#include <set>

#include "io/font.h"
#include "io/picture_files.h"

namespace intarsia::test {
namespace {

using draw::Canvas;
using draw::Colour;

constexpr Colour kWhite{255, 255, 255}, kBlack{0, 0, 0}, kRed{200, 0, 0};

Colour at_pixel(const at::Tensor& pixels, int64_t y, int64_t x) {
  const at::Tensor pixel = pixels[y][x].to(at::kByte).contiguous();
  const auto* data = pixel.data_ptr<uint8_t>();
  return {data[0], data[1], data[2]};
}

int64_t count(const Canvas& canvas, Colour colour) {
  const auto wanted = at::tensor({colour[0], colour[1], colour[2]}, at::kByte);
  return canvas.pixels().eq(wanted).all(2).sum().item<int64_t>();
}

TEST(Canvas, BoxesCoverTheirPixelsAndNoOthers) {
  Canvas canvas(10, 12, kWhite);
  canvas.fill({2, 3, 5, 7}, kRed);
  EXPECT_EQ(count(canvas, kRed), 12);
  EXPECT_EQ(at_pixel(canvas.pixels(), 3, 2), kRed);
  EXPECT_EQ(at_pixel(canvas.pixels(), 6, 4), kRed);
  EXPECT_EQ(at_pixel(canvas.pixels(), 7, 4), kWhite);
  canvas.fill({5, 5, 5, 9}, kBlack);
  canvas.fill({-9, -9, 1, 1}, kBlack);
  canvas.fill({11, 9, 900, 900}, kBlack);
  EXPECT_EQ(count(canvas, kBlack), 2);
}

TEST(Canvas, OpacityMixesColours) {
  Canvas canvas(1, 3, kWhite);
  canvas.fill({0, 0, 1, 1}, kRed, 0.5);
  canvas.fill({1, 0, 2, 1}, kRed, 0);
  canvas.fill({2, 0, 3, 1}, kRed, 1);
  EXPECT_EQ(at_pixel(canvas.pixels(), 0, 0), (Colour{228, 128, 128}));
  EXPECT_EQ(at_pixel(canvas.pixels(), 0, 1), kWhite);
  EXPECT_EQ(at_pixel(canvas.pixels(), 0, 2), kRed);
  EXPECT_REFUSED(canvas.fill({0, 0, 1, 1}, kRed, 1.5), "opacity");
}

TEST(Canvas, FramesAndLinesHaveTheirPixels) {
  Canvas canvas(20, 20, kWhite);
  canvas.frame({2, 2, 12, 10}, kBlack, 2);
  EXPECT_EQ(count(canvas, kBlack), 10 * 8 - 6 * 4);
  canvas.line(0, 19, 19, 19, kRed);
  canvas.line(19, 0, 13, 6, kRed);
  canvas.line(0, 0, 0, 0, kRed);
  EXPECT_EQ(count(canvas, kRed), 20 + 7 + 1);
  canvas.frame({15, 12, 16, 13}, kRed, 5);
  EXPECT_EQ(count(canvas, kRed), 20 + 7 + 1 + 1);
}

TEST(Canvas, EveryPrintableCharacterHasALetterOfItsOwn) {
  std::set<std::string> seen;
  for (unsigned char letter = ' '; letter <= 0x7f; ++letter) {
    std::string bits;
    for (int row = 0; row < draw::kLetterRows; ++row)
      for (int column = 0; column < draw::kLetterColumns; ++column)
        bits += draw::letter_has(letter, row, column) ? '#' : '.';
    EXPECT_TRUE(seen.insert(bits).second) << letter;
  }
}

TEST(Canvas, TextIsAsWideAsSaidAndScales) {
  Canvas small(12, 60, kWhite), large(36, 180, kWhite);
  small.text(1, 1, "HMg", kBlack);
  large.text(3, 3, "HMg", kBlack, 3);
  EXPECT_EQ(count(small, kBlack) * 9, count(large, kBlack));
  EXPECT_EQ(draw::text_width("HMg"), 17);
  EXPECT_EQ(draw::text_width("HMg", 3), 51);
  EXPECT_EQ(draw::text_width(""), 0);
  EXPECT_EQ(draw::text_width("ä…"), draw::text_width("ab"));
  const at::Tensor columns = small.pixels().select(2, 0).eq(0).any(0).nonzero();
  EXPECT_EQ(columns.max().item<int64_t>() - columns.min().item<int64_t>() + 1, 17);
  Canvas outside(4, 4, kWhite);
  outside.text(-100, -100, std::string(200, 'W'), kBlack);
  outside.text(2, 2, "\n\x01\xff", kBlack);
}

TEST(Canvas, PicturesArePastedAndCutAtTheEdge) {
  const at::Tensor picture = gradient(6, 5);
  Canvas canvas(8, 8, kWhite);
  canvas.paste(picture, 5, 4);
  EXPECT_TENSOR_EQ(canvas.pixels().narrow(0, 4, 4).narrow(1, 5, 3).contiguous(),
                   picture.narrow(0, 0, 4).narrow(1, 0, 3).contiguous());
  canvas.paste(picture, -3, -2);
  EXPECT_EQ(at_pixel(canvas.pixels(), 0, 0), at_pixel(picture, 2, 3));
  canvas.paste(picture, 100, 100);
  EXPECT_TENSOR_EQ(Canvas(picture).pixels(), picture);
  EXPECT_REFUSED(canvas.paste(picture.to(at::kFloat), 0, 0), "uint8");
  EXPECT_REFUSED(Canvas(0, 3, kWhite), "at least one pixel");
}

TEST(Colours, OfRanksDifferFromEachOtherAndFromPaperAndInk) {
  const auto apart = [](Colour a, Colour b) {
    int total = 0;
    for (size_t i = 0; i < 3; ++i) total += std::abs(a[i] - b[i]);
    return total;
  };
  for (int64_t a = 0; a < 32; ++a) {
    for (const Colour other : {kWhite, kBlack})
      EXPECT_GT(apart(draw::rank_colour(a), other), 90) << a;
    for (int64_t b = 0; b < a; ++b)
      EXPECT_GT(apart(draw::rank_colour(a), draw::rank_colour(b)), a < 16 ? 60 : 25)
          << a << " " << b;
  }
  draw::rank_colour(1'000'000'007);
  EXPECT_REFUSED(draw::rank_colour(-1), "-1");
  EXPECT_EQ(draw::ink_on({240, 228, 66}), kBlack);
  EXPECT_EQ(draw::ink_on({0, 60, 120}), kWhite);
}

TEST(Colours, TheRampGetsBrighterAllTheWay) {
  double last = -1;
  for (int i = 0; i <= 50; ++i) {
    const Colour c = draw::ramp_colour(i / 50.0);
    const double light = 0.2126 * std::pow(c[0] / 255.0, 2.2) +
                         0.7152 * std::pow(c[1] / 255.0, 2.2) +
                         0.0722 * std::pow(c[2] / 255.0, 2.2);
    EXPECT_GT(light, last) << i;
    last = light;
  }
  EXPECT_GT(last, 0.8);
}

TEST(HeatMap, ColoursFollowTheScaleAndChannelsCountTogether) {
  const at::Tensor values = at::zeros({20, 200, 3});
  values[4][7][1] = -2;
  values[5][8][2] = 1;
  const at::Tensor map = draw::heat_map(values);
  EXPECT_GT(map.size(0), 20);
  EXPECT_EQ(map.size(1), 200);
  EXPECT_EQ(at_pixel(map, 0, 0), draw::ramp_colour(0));
  EXPECT_EQ(at_pixel(map, 4, 7), draw::ramp_colour(1));
  EXPECT_EQ(at_pixel(map, 5, 8), draw::ramp_colour(128.0 / 255));
  EXPECT_TENSOR_EQ(map, draw::heat_map(std::get<0>(values.abs().max(2)), 2));
  EXPECT_EQ(at_pixel(draw::heat_map(values, 1), 5, 8), draw::ramp_colour(1));
}

TEST(HeatMap, NoDifferenceAndNoNumbersAreDrawn) {
  const at::Tensor dark = draw::heat_map(at::zeros({3, 3}));
  EXPECT_EQ(at_pixel(dark, 1, dark.size(1) / 2), draw::ramp_colour(0));
  const at::Tensor values = at::ones({2, 200});
  values[0][0] = std::nan("");
  values[0][1] = std::numeric_limits<double>::infinity();
  const at::Tensor map = draw::heat_map(values);
  EXPECT_EQ(at_pixel(map, 0, 0), at_pixel(map, 0, 1));
  EXPECT_EQ(at_pixel(map, 0, 2), draw::ramp_colour(1));
  EXPECT_REFUSED(draw::heat_map(at::zeros({3})), "[H, W]");
}

TEST(Beside, PicturesAreWholeAndCaptionsStayInside) {
  const std::vector<at::Tensor> pictures{gradient(30, 40), gradient(20, 50)};
  const at::Tensor whole = draw::beside(pictures, {"one", "a caption that is far too long for it"});
  EXPECT_EQ(whole.size(1), 8 + 40 + 6 + 50 + 8);
  EXPECT_TENSOR_EQ(whole.narrow(0, 8, 30).narrow(1, 8, 40).contiguous(), pictures[0]);
  EXPECT_TENSOR_EQ(whole.narrow(0, 8, 20).narrow(1, 54, 50).contiguous(), pictures[1]);
  EXPECT_TRUE(whole.narrow(1, 104, 8).eq(255).all().item<bool>());  // the right margin is empty
  EXPECT_LE(draw::beside(pictures, {"", ""}, 60).size(1), 60);
  EXPECT_REFUSED(draw::beside({}, {}), "no picture");
  EXPECT_REFUSED(draw::beside(pictures, {"one"}), "1 captions");
  EXPECT_REFUSED(draw::beside(pictures, {"", ""}, 20), "no room");
  EXPECT_REFUSED(draw::beside({gradient(2, 2).to(at::kInt)}, {""}), "uint8");
}

TEST(Beside, ScalingDownTakesTheMeanOfWhatIsCovered) {
  const at::Tensor x = gradient(12, 18);
  const at::Tensor means =
      x.to(at::kDouble).reshape({4, 3, 9, 2, 3}).mean(at::IntArrayRef({1, 3})).round();
  EXPECT_LE(max_difference(draw::scale_down(x, 4, 9), means), 1);
  EXPECT_TENSOR_EQ(draw::scale_down(x, 12, 18), x);
  const at::Tensor odd = draw::scale_down(x, 5, 7);
  EXPECT_NEAR(odd.to(at::kDouble).mean().item<double>(), x.to(at::kDouble).mean().item<double>(),
              1);
  EXPECT_REFUSED(draw::scale_down(x, 13, 18), "18x13");
}

}  // namespace
}  // namespace intarsia::test
