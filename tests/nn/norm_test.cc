#include "nn/norm.h"

#include <ATen/Parallel.h>

#include "kernels/group_norm.h"
#include "support/tensors.h"

namespace intarsia::nn {
namespace {

GroupNorm norm_of(int64_t channels, int64_t groups) {
  return {
      .weight = test::randn({channels}, 3), .bias = test::randn({channels}, 4), .groups = groups};
}

at::Tensor channels_last(const at::Tensor& x) {
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor reference(const at::Tensor& x, const GroupNorm& n) {
  return at::group_norm(x.to(at::kDouble), n.groups, n.weight.to(at::kDouble),
                        n.bias.to(at::kDouble), n.eps);
}

TEST(GroupNorm, EqualsTheDefinitionForEveryShape) {
  for (const auto& shape : std::vector<std::vector<int64_t>>{
           {1, 32, 1, 1}, {2, 32, 7, 5}, {1, 24, 33, 61}, {3, 8, 1, 40}, {1, 64, 64, 64}}) {
    const GroupNorm n = norm_of(shape[1], 8);
    const at::Tensor x = channels_last(test::randn(shape));
    EXPECT_LT(test::max_difference(group_norm(x, n), reference(x, n)), 1e-5);
  }
}

TEST(GroupNorm, KeepsItsPrecisionFarFromZero) {
  // x ~ N(40, 0.05²): E[x²] − E[x]² in float32 is off by percents here (vae.md 1.11).
  const at::Tensor x = channels_last(test::randn({1, 32, 64, 64}) * 0.05 + 40);
  const GroupNorm n = norm_of(32, 8);
  EXPECT_LT(test::max_difference(group_norm(x, n), reference(x, n)), 2e-4);
}

TEST(GroupNorm, InPlaceAndCopyAgreeBitForBitWhateverTheThreads) {
  const GroupNorm n = norm_of(48, 8);
  const at::Tensor x = channels_last(test::randn({2, 48, 50, 41}));
  const at::Tensor copy = norm_silu(x, n);
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    at::Tensor mine = x.clone();
    EXPECT_TENSOR_EQ(norm_silu_(std::move(mine), n), copy);
  }
  at::set_num_threads(before);
}

TEST(GroupNorm, SixteenBitDataIsNormalisedInFloat32) {
  const GroupNorm n = norm_of(32, 4);
  const at::Tensor x = channels_last(test::randn({1, 32, 20, 20}) * 3 + 1).to(at::kBFloat16);
  // Only the last rounding to bfloat16 (2⁻⁸ relative) remains.
  const at::Tensor want = reference(x, n);
  EXPECT_TRUE(((group_norm(x, n).to(at::kDouble) - want).abs() <= want.abs() / 256 + 1e-6)
                  .all()
                  .item<bool>());
}

TEST(GroupNorm, LayoutsTheKernelCannotReadGiveTheSame) {
  const GroupNorm n = norm_of(32, 8);
  const at::Tensor x = test::randn({2, 32, 9, 9});  // channels first
  EXPECT_LT(test::max_difference(group_norm(x, n), group_norm(channels_last(x), n)), 1e-5);
}

TEST(Moments, MergeInAnyCutIsTheWhole) {
  const at::Tensor x = test::randn({1000, 4}) + 5;
  const auto moments_of = [&](int64_t from, int64_t to) {
    kernels::Moments m[2];
    kernels::group_moments(x.const_data_ptr<float>() + from * 4, to - from, 4, 2, m);
    return m[1];
  };
  const kernels::Moments whole = moments_of(0, 1000);
  for (const int64_t cut : {1, 13, 500, 999}) {
    const kernels::Moments joined = kernels::merge(moments_of(0, cut), moments_of(cut, 1000));
    EXPECT_EQ(joined.count, whole.count);
    EXPECT_NEAR(joined.mean, whole.mean, 1e-12);
    EXPECT_NEAR(joined.m2, whole.m2, 1e-8);
  }
  EXPECT_EQ(kernels::merge({}, whole).m2, whole.m2) << "an empty part changes nothing";
}

}  // namespace
}  // namespace intarsia::nn
