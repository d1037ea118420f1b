#include <intarsia/tensor_file.h>
#include <intarsia/vision.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "nn/scope.h"
#include "support/ranks.h"
#include "support/tensors.h"
#include "vision/positions.h"

// The encoders against transformers' tensors, at every split.
namespace intarsia::vision {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, at::Tensor>;

const std::filesystem::path kData = std::filesystem::path(INTARSIA_TEST_DATA) / "vision";

/// A model's cases with their tensors.
struct Golden {
  std::filesystem::path folder;
  json cases;
  Tensors tensors, pixels;

  explicit Golden(const std::string& model) : folder(kData / model) {
    std::ifstream in(folder / "cases.json");
    cases = json::parse(in)["cases"];
    tensors = read_tensors(folder / "cases.safetensors");
    const std::string file = cases[0]["pixels"];
    pixels = read_tensors(folder / file);
  }

  Item item(const std::string& pixel_name, const std::string& grid_name) const {
    const at::Tensor g = pixels.at(grid_name).view({-1, 3});
    const Grid grid{g[0][0].item<int64_t>(), g[0][1].item<int64_t>(), g[0][2].item<int64_t>()};
    return {pixel_name, grid, [x = pixels.at(pixel_name)] { return x; }};
  }
  Item item(const json& c) const { return item(c["pixel_values"], c["grid_thw"]); }

  std::vector<json> of(const std::string& op) const {
    std::vector<json> found;
    for (const json& c : cases)
      if (c["op"] == op) found.push_back(c);
    return found;
  }
};

const Golden& golden(const std::string& model) {
  static std::map<std::string, Golden> all;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return all.try_emplace(model, model).first->second;
}

const at::Tensor& level(const Embedding& e, const std::string& what) {
  return what == "pooler" ? e.main : e.deepstack.at(std::stoul(what.substr(what.find('.') + 1)));
}

void expect_case(const Golden& g, const json& c, const Embedding& e) {
  EXPECT_EQ(e.error, "");
  for (const auto& [what, name] : c["expect"].items()) {
    const at::Tensor want = g.tensors.at(name);
    EXPECT_LE(test::max_difference(level(e, what), want), c["atol"][what].get<double>())
        << c["id"] << " " << what;
  }
}

struct Case {
  const char* model;
  int64_t tp, dp;
  int64_t block;  ///< 0: none
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.model; }

std::vector<Case> every_split() {
  std::vector<Case> all;
  for (const char* model : {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5"})
    for (const auto& [tp, dp] :
         {std::pair{1, 1}, {2, 1}, {1, 2}, {4, 1}, {2, 2}, {1, 3}, {4, 2}, {1, 8}})
      for (const int64_t block : {0, 256})
        if (tp <= 2 || model != std::string("qwen3_vl_moe"))  // it has two heads
          all.push_back({model, tp, dp, block});
  return all;
}

class Towers : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, Towers, testing::ValuesIn(every_split()), [](const auto& c) {
  return c10::str(c.param.model, "_tp", c.param.tp, "_dp", c.param.dp,
                  c.param.block ? "_blocks" : "");
});

TEST_P(Towers, GiveTheFeaturesOfTransformers) {
  const Golden& g = golden(GetParam().model);
  const auto cases = g.of("vision_tower");
  std::vector<Item> items;
  for (const json& c : cases) items.push_back(g.item(c));
  test::run_ranks(int(GetParam().tp * GetParam().dp), [&](Group& world) {
    const auto encoder = Encoder::load(g.folder, world, {.tp = GetParam().tp, .dp = GetParam().dp});
    const Encoded out = encoder.encode(items, {.block_size = GetParam().block});
    ASSERT_EQ(out.items.size(), items.size());
    for (size_t i = 0; i < cases.size(); ++i) expect_case(g, cases[i], out.items[i]);
  });
}

TEST_P(Towers, SplitItemsAreTheSame) {
  if (GetParam().block != 0) return;  // blocks are not split
  const Golden& g = golden(GetParam().model);
  const auto cases = g.of("vision_tower");
  std::vector<Item> items;
  for (const json& c : cases) items.push_back(g.item(c));
  test::run_ranks(int(GetParam().tp * GetParam().dp), [&](Group& world) {
    const auto encoder = Encoder::load(g.folder, world, {.tp = GetParam().tp, .dp = GetParam().dp});
    const Encoded out = encoder.encode(items, {.split = EncodeOptions::Split::kAlways});
    for (size_t i = 0; i < cases.size(); ++i) expect_case(g, cases[i], out.items[i]);
  });
}

struct Recorder : nn::Observer {
  Tensors seen;
  void output(const std::string& path, const at::Tensor& x) override { seen[path] = x.clone(); }
};

class Models : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Models,
                         testing::Values("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe",
                                         "qwen3_5"),
                         [](const auto& m) { return std::string(m.param); });

TEST_P(Models, EveryBlockGivesTheActivationsOfTransformers) {
  const Golden& g = golden(GetParam());
  Group solo = Group::solo();
  const auto encoder = Encoder::load(g.folder, solo);
  for (const json& c : g.of("vision_intermediates")) {
    Recorder recorder;
    const Item item = g.item(c);
    encoder.encode({item}, {.observer = &recorder});
    const auto expect = [&](const std::string& what, const at::Tensor& got) {
      const at::Tensor want = g.tensors.at(c["expect"][what]);
      EXPECT_LE(test::max_difference(got.reshape(want.sizes()), want),
                c["atol"][what].get<double>())
          << what;
    };
    for (int64_t i = 0; i < encoder.config().depth; ++i)
      expect(c10::str("block.", i), recorder.seen.at(c10::str("blocks.", i)));
    expect("block_input", recorder.seen.at("block_input"));
    const at::Tensor places = cell_order(item.grid, encoder.config().merge);
    const Rotary turn = rotary(places, encoder.config().head_dim(), encoder.config().theta);
    expect("rope_cos", turn.cos);
    expect("rope_sin", turn.sin);
  }
}

TEST_P(Models, ABatchIsEachItemAloneBitForBit) {
  const Golden& g = golden(GetParam());
  std::vector<Item> items;
  for (const json& c : g.of("vision_tower")) items.push_back(g.item(c));
  Group solo = Group::solo();
  const auto encoder = Encoder::load(g.folder, solo);
  const Encoded batch = encoder.encode(items);
  for (size_t i = 0; i < items.size(); ++i) {
    const Encoded alone = encoder.encode({items[i]});
    EXPECT_TENSOR_EQ(batch.items[i].main, alone.items[0].main);
  }
}

TEST(Encoder, ATpThatDoesNotDivideIsRefusedWithThoseThatDo) {
  test::run_ranks(3, [&](Group& world) {
    EXPECT_REFUSED(Encoder::load(kData / "qwen3_vl", world, {.tp = 3}), "these do: [1, 2, 4");
    const auto encoder =
        Encoder::load(kData / "qwen3_vl", world, {.tp = 3, .replicate_if_illegal = true});
    EXPECT_EQ(encoder.split(), (TpDp{1, 3}));
    EXPECT_THAT(encoder.notes(), testing::Contains(testing::HasSubstr("tp 1, dp 3")));
  });
}

class EncoderRanks : public test::Ranks {};
INTARSIA_RANKS(EncoderRanks);

TEST_P(EncoderRanks, OneBadItemFailsAloneAndNothingHangs) {
  const Golden& g = golden("qwen3_vl");
  const Item good = g.item(g.of("vision_tower")[0]);
  Item unreadable = good, misshapen = good, nan = good;
  unreadable.name = "broken.png";
  unreadable.patches = []() -> at::Tensor { throw std::invalid_argument("cut short"); };
  misshapen.name = "short.png";
  misshapen.patches = [x = good.patches()] { return x.narrow(0, 0, 4); };
  nan.name = "nan.png";
  nan.patches = [x = good.patches()] { return at::full_like(x, NAN); };
  test::run_ranks(GetParam(), [&](Group& world) {
    const auto encoder = Encoder::load(g.folder, world);
    for (const int64_t block : {0, 256}) {
      const Encoded out =
          encoder.encode({good, unreadable, good, misshapen, nan}, {.block_size = block});
      EXPECT_EQ(out.items[0].error, "");
      EXPECT_THAT(out.items[1].error, testing::HasSubstr("broken.png: cut short"));
      EXPECT_TENSOR_EQ(out.items[2].main, out.items[0].main);
      EXPECT_THAT(out.items[3].error, testing::HasSubstr("its grid asks for"));
      EXPECT_THAT(out.items[4].error, testing::HasSubstr("NaN"));
      expect_case(g, g.of("vision_tower")[0], out.items[0]);
    }
    EXPECT_TRUE(encoder.encode({}).items.empty()) << "no item at all";
    EXPECT_EQ(encoder.encode({good}).items.size(), 1u) << "fewer items than ranks";
    EXPECT_THAT(
        encoder.encode({unreadable}, {.split = EncodeOptions::Split::kAlways}).items[0].error,
        testing::HasSubstr("cut short"));
  });
}

TEST(Encoder, DifferentListsAreRefusedOnEveryRank) {
  const Golden& g = golden("qwen3_vl");
  const Item item = g.item(g.of("vision_tower")[0]);
  test::run_ranks(2, [&](Group& world) {
    const auto encoder = Encoder::load(g.folder, world);
    const std::vector<Item> mine(size_t(1 + world.rank()), item);
    EXPECT_REFUSED(encoder.encode(mine), "were given different items");
  });
}

TEST(WindowIndex, IsThatOfTransformers) {
  const Golden& g = golden("qwen2_5_vl");
  const VisionConfig config = read_vision_config(g.folder);
  for (const json& c : g.of("window_index")) {
    const at::Tensor t = g.pixels.at(c["grid_thw"]).view({-1, 3})[0];
    const Grid grid{t[0].item<int64_t>(), t[1].item<int64_t>(), t[2].item<int64_t>()};
    const Windows w =
        windows_of(grid, config.merge, config.window / config.merge / config.patch_size);
    EXPECT_TRUE(
        at::tensor(w.order, at::kLong).equal(g.tensors.at(c["expect"]["index"]).to(at::kLong)));
    const at::Tensor ends = g.tensors.at(c["expect"]["cu_seqlens"]).to(at::kLong).slice(0, 1);
    EXPECT_TRUE(at::tensor(w.ends, at::kLong).equal(ends));
  }
}

TEST(PositionTable, CornersAreThoseOfTheReference) {
  const Grid grid{1, 2, 4};
  const at::Tensor places = cell_order(grid, 2);
  EXPECT_TENSOR_EQ(places[0], at::tensor({0, 0, 1, 1, 0, 0, 1, 1}, at::kLong));
  EXPECT_TENSOR_EQ(places[1], at::tensor({0, 1, 0, 1, 2, 3, 2, 3}, at::kLong));
  const Corners c = table_corners(places, grid, 4);
  EXPECT_TENSOR_EQ(c.rows[0].contiguous(), at::tensor({0, 1, 12, 13, 2, 3, 14, 15}, at::kLong));
  EXPECT_TENSOR_EQ(c.rows[1].contiguous(), at::tensor({1, 2, 13, 14, 3, 3, 15, 15}, at::kLong));
  EXPECT_TENSOR_EQ(c.rows[2].contiguous(), at::tensor({4, 5, 12, 13, 6, 7, 14, 15}, at::kLong));
  EXPECT_TENSOR_EQ(c.rows[3].contiguous(), at::tensor({5, 6, 13, 14, 7, 7, 15, 15}, at::kLong));
  EXPECT_EQ(c.weights[0].min().item<float>(), 1);
}

}  // namespace
}  // namespace intarsia::vision
