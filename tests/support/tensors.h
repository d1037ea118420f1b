#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "aten.h"

namespace intarsia::test {

/// Largest absolute difference; infinite if shapes differ.
inline double max_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  if (a.numel() == 0) return 0;
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

/// Same dtype, shape and bits (NaN equals NaN).
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         a.contiguous().view({-1}).view(at::kByte).equal(b.contiguous().view({-1}).view(at::kByte));
}

/// Seeded normal numbers; make them before ranks start (the CPU generator is shared).
inline at::Tensor randn(at::IntArrayRef sizes, uint64_t seed = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::randn(sizes, generator, at::TensorOptions().dtype(at::kFloat));
}

/// A folder that is gone when the test ends.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "intarsia-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

#define EXPECT_TENSOR_EQ(a, b) EXPECT_TRUE(::intarsia::test::same_bits((a), (b)))
/// A caller's mistake whose message has `text` in it.
#define EXPECT_REFUSED(statement, text) \
  EXPECT_THAT([&] { statement; },       \
              ::testing::ThrowsMessage<std::invalid_argument>(::testing::HasSubstr(text)))

}  // namespace intarsia::test
