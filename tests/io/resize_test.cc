#include "io/resize.h"

#include <ATen/Parallel.h>
#include <intarsia/checkpoint.h>
#include <intarsia/tensor_file.h>

#include "io/picture_files.h"
#include "kernels/resample.h"

namespace intarsia::test {
namespace {

using io::Resizer;

struct Cases {
  Checkpoint file =
      Checkpoint::open(std::filesystem::path(INTARSIA_TEST_DATA) / "vision" / "resize.safetensors");
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const std::string& name : file.names())
      if (name.ends_with(".in")) all.push_back(name.substr(0, name.size() - 3));
    return all;
  }
};

TEST(Resize, HasPillowsBitsAtEverySize) {
  const Cases cases;
  int old = 0;
  for (const std::string& name : cases.names()) {
    const at::Tensor in = cases.file.read(name + ".in");
    const at::Tensor expected = cases.file.read(name + ".pillow");
    EXPECT_TENSOR_EQ(io::resize(in, expected.size(0), expected.size(1)), expected) << name;
    const bool differs = cases.file.contains(name + ".pillow12");
    old += differs ? 1 : 0;
    EXPECT_TENSOR_EQ(io::resize(in, expected.size(0), expected.size(1), Resizer::kPillow12),
                     differs ? cases.file.read(name + ".pillow12") : expected)
        << name;
  }
  EXPECT_GT(cases.names().size(), 70);
  EXPECT_GT(old, 10) << "cases in which older Pillows differ";
}

TEST(Resize, HasTorchvisionsBitsAtEverySize) {
  const Cases cases;
  for (const std::string& name : cases.names()) {
    const at::Tensor expected = cases.file.read(name + ".torch");
    EXPECT_TENSOR_EQ(io::resize(cases.file.read(name + ".in"), expected.size(0), expected.size(1),
                                Resizer::kTorchvision),
                     expected)
        << name;
  }
}

TEST(Resize, BitsDoNotDependOnThreads) {
  const at::Tensor in = gradient(301, 403);
  const int threads = at::get_num_threads();
  const at::Tensor expected = io::resize(in, 97, 111);
  for (const int n : {1, 2, 3}) {
    at::set_num_threads(n);
    EXPECT_TENSOR_EQ(io::resize(in, 97, 111), expected) << n;
  }
  at::set_num_threads(threads);
}

TEST(Resize, TheLoopsInAvx2GiveWhatThePlainOnesGive) {
  const at::Tensor in = gradient(37, 61);
  const auto* from = in.const_data_ptr<uint8_t>();
  for (const int64_t side : {1, 2, 5, 18, 36, 38, 77, 200}) {
    const auto along = kernels::bicubic_taps(61, side), across = kernels::bicubic_taps(37, side);
    std::vector<uint8_t> rows[2], columns[2];
    for (const bool avx2 : {false, kernels::has_avx2()}) {
      rows[avx2].resize(37 * side * 3);
      columns[avx2].resize(side * 61 * 3);
      kernels::resample_along_rows(from, from + in.numel(), 37, along, rows[avx2].data(), avx2);
      kernels::resample_across_rows(from, 61 * 3, across, 0, side, columns[avx2].data(), avx2);
    }
    if (!kernels::has_avx2()) GTEST_SKIP() << "no AVX2 here";
    EXPECT_EQ(rows[0], rows[1]) << side;
    EXPECT_EQ(columns[0], columns[1]) << side;
  }
}

TEST(Resize, AFlatPictureStaysFlat) {
  for (const int grey : {0, 1, 127, 254, 255}) {
    const at::Tensor in = at::full({50, 70, 3}, grey, at::kByte);
    for (const auto& [height, width] : {std::pair{1, 1}, {51, 69}, {8, 400}, {200, 3}})
      EXPECT_TENSOR_EQ(io::resize(in, height, width),
                       at::full({height, width, 3}, grey, at::kByte));
  }
}

TEST(Resize, ViewsAreResizedAsTheirCopies) {
  const at::Tensor turned = gradient(40, 30).transpose(0, 1);
  EXPECT_TENSOR_EQ(io::resize(turned, 11, 13), io::resize(turned.contiguous(), 11, 13));
  EXPECT_TRUE(io::resize(turned, 30, 40).is_contiguous());
}

TEST(Resize, VeryLargeAndVerySmallSidesWork) {
  const at::Tensor line = gradient(1, 8192);
  EXPECT_EQ(io::resize(line, 8192, 1).sizes(), (std::vector<int64_t>{8192, 1, 3}));
  EXPECT_EQ(io::resize(gradient(1, 1), 2, 8192).sizes(), (std::vector<int64_t>{2, 8192, 3}));
}

TEST(Resize, WhatCannotBeResizedIsRefused) {
  EXPECT_REFUSED(io::resize(gradient(4, 4), 0, 4), "4x0; sides are from 1 to 1048576");
  EXPECT_REFUSED(io::resize(gradient(4, 4), 4, 1 << 21), "2097152x4");
  EXPECT_REFUSED(io::resize(at::empty({0, 4, 3}, at::kByte), 4, 4), "4x0 pixels");
  EXPECT_REFUSED(io::resize(at::empty({4, 4, 4}, at::kByte), 4, 4), "uint8 [H, W, 3]");
  EXPECT_REFUSED(io::resize(at::empty({4, 4, 3}), 4, 4), "uint8 [H, W, 3]");
  EXPECT_REFUSED(io::resize(at::Tensor(), 4, 4), "uint8 [H, W, 3]");
}

}  // namespace
}  // namespace intarsia::test
