#include "nn/attention.h"
#include "nn/conv.h"
#include "nn/scope.h"
#include "support/tensors.h"

namespace intarsia::nn {
namespace {

TEST(Attention, EqualsSoftmaxOfTheWholeMatrix) {
  for (const auto& [queries, keys, width] : {std::tuple{7, 7, 96}, {130, 130, 512}, {5, 40, 64}}) {
    const at::Tensor q = test::randn({2, queries, width}, 1), k = test::randn({2, keys, width}, 2),
                     v = test::randn({2, keys, width}, 3);
    const at::Tensor scores =
        at::matmul(q, k.transpose(1, 2)).to(at::kDouble) / std::sqrt(double(width));
    const at::Tensor want = at::matmul(at::softmax(scores, -1), v.to(at::kDouble));
    EXPECT_LT(test::max_difference(attention(q, k, v), want), 1e-5);
  }
}

TEST(Conv, DownsamplingPadsOnlyBelowAndRight) {
  Conv2d conv{.weight = at::zeros({1, 1, 3, 3}), .bias = at::zeros({1})};
  conv.weight[0][0][2][2] = 1;  // reads the pixel two below and right of the corner
  const at::Tensor x = at::arange(1, 17, at::kFloat).view({1, 1, 4, 4});
  EXPECT_TENSOR_EQ(downsample(x, conv).flatten(), at::tensor({11.f, 0.f, 0.f, 0.f}));
  for (const auto& [size, out] : {std::pair{5, 2}, {6, 3}, {7, 3}, {2, 1}})
    EXPECT_EQ(downsample(at::zeros({1, 1, size, size}), conv).size(2), out);
}

TEST(Conv, UpsamplingRepeatsEachPixelBeforeItsConvolution) {
  Conv2d conv{.weight = at::zeros({1, 1, 3, 3}), .bias = at::full({1}, 0.5)};
  conv.weight[0][0][1][1] = 1;
  const at::Tensor x = at::tensor({1.f, 2.f}).view({1, 1, 1, 2});
  EXPECT_TENSOR_EQ(upsample(x, conv).flatten(),
                   at::tensor({1.5f, 1.5f, 2.5f, 2.5f, 1.5f, 1.5f, 2.5f, 2.5f}));
}

TEST(Scope, NamesArePathsAndNobodyPaysWithoutAnObserver) {
  struct Names : Observer {
    std::vector<std::string> seen;
    void output(const std::string& path, const at::Tensor&) override { seen.push_back(path); }
  } names;
  const Scope root(&names);
  const Scope decoder = root.child("decoder");
  decoder.child("up_blocks", 2).output(at::Tensor());
  root.child("quant_conv").output(at::Tensor());
  EXPECT_THAT(names.seen, testing::ElementsAre("decoder.up_blocks.2", "quant_conv"));
  EXPECT_FALSE(Scope().child("x").observed());
}

}  // namespace
}  // namespace intarsia::nn
