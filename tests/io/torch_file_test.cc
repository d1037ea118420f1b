#include <intarsia/tensor_file.h>

#include "io/files.h"

namespace intarsia::test {
namespace {

at::Tensor read(const std::string& file, const std::string& name = "") {
  return read_tensor(io_data(file), name).tensor;
}

TEST(TorchFile, TensorsOfEveryDtypeAreRead) {
  EXPECT_TENSOR_EQ(read("tensor.pt"), counted());
  EXPECT_TENSOR_EQ(read("proto4.pt"), counted());
  EXPECT_TENSOR_EQ(read("zip64.pt"), counted());
  EXPECT_TENSOR_EQ(read("bf16.pt"), counted(at::kBFloat16));
  EXPECT_TENSOR_EQ(read("u16.pt"), counted().to(at::kUInt16));
  EXPECT_TENSOR_EQ(read("f8.pt"), (counted() / 4).to(at::kFloat8_e4m3fn));
  EXPECT_TENSOR_EQ(read("bool.pt"), at::tensor({1, 0}).to(at::kBool));
  EXPECT_EQ(read("empty.pt").sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(TorchFile, ViewsAreReadByTheirStrides) {
  const at::Tensor want = counted().permute({2, 0, 1}).slice(0, 1).slice(2, 0, 3, 2).contiguous();
  EXPECT_TENSOR_EQ(read("view.pt"), want);
  EXPECT_TENSOR_EQ(read("expanded.pt"), at::ones({5}));
}

TEST(TorchFile, ADictionarysOnlyTensorIsTakenAndOthersByName) {
  EXPECT_TENSOR_EQ(read("dict.pt"), counted());
  EXPECT_TENSOR_EQ(read("two.pt", "b"), counted() + 1);
  EXPECT_TENSOR_EQ(read("two.pt", "a"), counted(at::kHalf));
  EXPECT_REFUSED(read("two.pt"), "several tensors; name one of");
  EXPECT_REFUSED(read("two.pt", "c"), "has no tensor");
}

TEST(TorchFile, WhatWouldRunCodeOrIsNotReadIsRefusedByName) {
  EXPECT_REFUSED(read("legacy.pt"), "bare pickle");
  EXPECT_REFUSED(read("module.pt"), "module.pt");
  EXPECT_REFUSED(read("big_endian.pt"), "big_endian.pt");
  EXPECT_REFUSED(read("conj.pt"), "conj.pt");
}

TEST(TorchFile, AFileCutAnywhereIsRefused) {
  for (const char* file : {"tensor.pt", "dict.pt", "zip64.pt"})
    expect_cuts_refused(io_data(file), std::filesystem::file_size(io_data(file)) / 100,
                        [](const auto& path) { read_tensor(path); });
}

TEST(TorchFile, DamagedBytesNeverCrash) {
  for (const char* file : {"tensor.pt", "two.pt"})
    expect_damage_survived(io_data(file), [](const auto& path) { read_tensor(path, "a"); });
}

TEST(ComfyLatent, TheVersionMarkerDecidesTheScale) {
  const LoadedTensor now = read_tensor(io_data("new.latent"));
  EXPECT_TRUE(now.comfy_latent);
  EXPECT_EQ(now.comfy_scale, 1);
  EXPECT_TENSOR_EQ(now.tensor, counted());
  EXPECT_NEAR(read_tensor(io_data("old.latent")).comfy_scale, 1 / 0.18215, 1e-9);
}

}  // namespace
}  // namespace intarsia::test
