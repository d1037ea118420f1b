#include <intarsia/tensor_file.h>
#include <intarsia/vision.h>

#include <algorithm>

#include "support/ranks.h"
#include "support/tensors.h"

// The bundled trained model's scenes, from the files, against the features of transformers.
namespace intarsia::vision {
namespace {

const std::filesystem::path kModel = std::filesystem::path(INTARSIA_ASSETS) / "shapes-vl";

std::vector<std::string> scenes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kModel / "scenes"))
    if (entry.path().extension() == ".png") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Item> items() {
  const ProcessorConfig config = read_processor_config(kModel);
  std::vector<Item> all;
  for (const std::string& name : scenes())
    all.push_back(item_of(name, patches_of(kModel / "scenes" / (name + ".png"), config)));
  return all;
}

double relative(const at::Tensor& got, const at::Tensor& want) {
  return test::max_difference(got, want) / want.abs().max().item<double>();
}

class Shapes : public test::Ranks {};
INTARSIA_RANKS(Shapes);

TEST_P(Shapes, FeaturesOfTheScenesAreThoseOfTransformers) {
  const auto want = read_tensors(std::filesystem::path(INTARSIA_TEST_DATA) / "vision" /
                                 "shapes_features.safetensors");
  const auto all = items();
  ASSERT_EQ(all.size(), 12u);
  test::run_ranks(GetParam(), [&](Group& world) {
    const int64_t tp = world.size() % 2 == 0 ? 2 : 1;
    const Encoded out = Encoder::load(kModel, world, {.tp = tp}).encode(all);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_LT(relative(out.items[i].main, want.at(all[i].name + ".main")), 1e-4);
      for (int64_t k = 0; k < 3; ++k)
        EXPECT_LT(
            relative(out.items[i].deepstack[k], want.at(c10::str(all[i].name, ".deepstack.", k))),
            1e-4);
    }
  });
}

TEST(ShapesBatch, TwelveScenesAtOnceAreEachAlone) {
  const auto all = items();
  Group solo = Group::solo();
  const auto encoder = Encoder::load(kModel, solo);
  const Encoded batch = encoder.encode(all);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_TENSOR_EQ(batch.items[i].main, encoder.encode({all[i]}).items[0].main);
}

}  // namespace
}  // namespace intarsia::vision
