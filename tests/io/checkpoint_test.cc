#include <intarsia/checkpoint.h>
#include <intarsia/tensor_file.h>

#include "io/files.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

struct CheckpointFolder : TemporaryFolder {
  // A file with one tensor a name, filled with its number.
  fs::path add(const std::string& file, const std::vector<std::string>& names) const {
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    for (const auto& name : names) tensors.emplace_back(name, at::full({2}, double(name.size())));
    fs::create_directories((path / file).parent_path());
    write_safetensors(path / file, tensors, {{"file", file}});
    return path / file;
  }
  fs::path text(const std::string& file, const std::string& bytes) const {
    return write_bytes(path / file, bytes);
  }
};

using Names = std::vector<std::string>;

TEST(Checkpoint, OneFileIsOpened) {
  const CheckpointFolder folder;
  const auto file = folder.add("ae.safetensors", {"bb", "a"});
  folder.text("config.json", "{}");
  const auto checkpoint = Checkpoint::open(file);
  EXPECT_EQ(checkpoint.names(), (Names{"a", "bb"}));
  EXPECT_EQ(checkpoint.path(), file);
  EXPECT_TRUE(checkpoint.config_path().empty());
  EXPECT_EQ(checkpoint.bytes(), 16);
  EXPECT_EQ(checkpoint.metadata().at("file"), "ae.safetensors");
  EXPECT_EQ(checkpoint.info("bb").shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(checkpoint.info("bb").dtype, at::kFloat);
  EXPECT_TENSOR_EQ(checkpoint.read("bb"), at::full({2}, 2.0F));
  EXPECT_TENSOR_EQ(checkpoint.view("a"), at::full({2}, 1.0F));
  EXPECT_TRUE(checkpoint.contains("a"));
  EXPECT_FALSE(checkpoint.contains("c"));
}

TEST(Checkpoint, FoldersAreOpenedByEveryKnownName) {
  for (const std::string name :
       {"diffusion_pytorch_model.safetensors", "model.safetensors",
        "diffusion_pytorch_model.fp16.safetensors", "model.fp16.safetensors", "odd.safetensors"}) {
    const CheckpointFolder folder;
    const auto file = folder.add(name, {"a"});
    const auto config = folder.text("config.json", "{}");
    const auto checkpoint = Checkpoint::open(folder.path);
    EXPECT_EQ(checkpoint.path(), file);
    EXPECT_EQ(checkpoint.config_path(), config);
  }
}

TEST(Checkpoint, WholePrecisionIsPreferredToFp16) {
  const CheckpointFolder folder;
  folder.add("diffusion_pytorch_model.fp16.safetensors", {"a"});
  const auto whole = folder.add("diffusion_pytorch_model.safetensors", {"a"});
  EXPECT_EQ(Checkpoint::open(folder.path).path(), whole);
}

TEST(Checkpoint, AFileNamedAsInAFolderFindsItsConfig) {
  const CheckpointFolder folder;
  const auto file = folder.add("diffusion_pytorch_model.safetensors", {"a"});
  EXPECT_TRUE(Checkpoint::open(file).config_path().empty());
  const auto config = folder.text("config.json", "{}");
  EXPECT_EQ(Checkpoint::open(file).config_path(), config);
}

TEST(Checkpoint, ThePipelinesFolderLeadsToItsVae) {
  const CheckpointFolder folder;
  const auto file = folder.add("vae/diffusion_pytorch_model.safetensors", {"a"});
  folder.add("whole.safetensors", {"b"});
  EXPECT_EQ(Checkpoint::open(folder.path).path(), file);
}

TEST(Checkpoint, ShardsAreJoined) {
  for (const std::string index :
       {"diffusion_pytorch_model.safetensors.index.json",
        "diffusion_pytorch_model.safetensors.index.fp16.json", "model.safetensors.index.json"}) {
    const CheckpointFolder folder;
    folder.add("one.safetensors", {"a", "bb"});
    folder.add("two.safetensors", {"ccc"});
    const auto path = folder.text(
        index,
        R"({"weight_map":{"a":"one.safetensors","bb":"one.safetensors","ccc":"two.safetensors"}})");
    for (const auto& given : {folder.path, path}) {
      const auto checkpoint = Checkpoint::open(given);
      EXPECT_EQ(checkpoint.names(), (Names{"a", "bb", "ccc"}));
      EXPECT_EQ(checkpoint.path(), path);
      EXPECT_EQ(checkpoint.metadata().at("file"), "one.safetensors");
      EXPECT_TENSOR_EQ(checkpoint.read("ccc"), at::full({2}, 3.0F));
    }
  }
}

TEST(Checkpoint, BrokenIndicesAreRefused) {
  const CheckpointFolder folder;
  folder.add("one.safetensors", {"a"});
  folder.add("two.safetensors", {"a", "b"});
  const auto refused = [&](const std::string& json, const std::string& why) {
    const auto path = folder.text("x.index.json", json);
    EXPECT_REFUSED(Checkpoint::open(path), why);
  };
  refused("{", "not valid JSON");
  refused(R"({"a":1})", "it has no weight_map");
  refused("[]", "it has no weight_map");
  refused(R"({"weight_map":[]})", "names no tensors");
  refused(R"({"weight_map":{}})", "names no tensors");
  refused(R"({"weight_map":{"a":1}})", "the shard of 'a' is not a text");
  refused(R"({"weight_map":{"a":"none-1","b":"none-2"}})",
          "2 of 2 shards are missing beside it: 'none-1', 'none-2'");
  refused(R"({"weight_map":{"q":"one.safetensors"}})",
          "places tensor 'q' in 'one.safetensors', but it is not there");
  refused(R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})",
          "tensor 'a' stands both in ");
  refused(R"({"weight_map":{"a":"one.safetensors","a":"two.safetensors"}})", "stands twice");
  for (const std::string name : {"../one.safetensors", "/etc/passwd", "..", ".", "", "a/b"})
    refused(R"({"weight_map":{"a":")" + name + R"("}})", "not a plain file name");
  refused(R"({"weight_map":{"a":"one\u0000"}})", "not a plain file name");
}

TEST(Checkpoint, ABrokenShardIsNamed) {
  const CheckpointFolder folder;
  folder.text("one.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  const auto index = folder.text("x.index.json", R"({"weight_map":{"a":"one.safetensors"}})");
  EXPECT_REFUSED(Checkpoint::open(index), "one.safetensors is not a safetensors file");
}

TEST(Checkpoint, WhatIsNoCheckpointIsRefused) {
  const CheckpointFolder folder;
  EXPECT_REFUSED(Checkpoint::open(""), "no checkpoint given");
  EXPECT_REFUSED(Checkpoint::open(folder.path / "none"), "there is no checkpoint at");
  EXPECT_REFUSED(Checkpoint::open(folder.path), "holds no weights");
  folder.text("diffusion_pytorch_model.bin", "x");
  EXPECT_REFUSED(Checkpoint::open(folder.path), "holds only 'diffusion_pytorch_model.bin'");
  EXPECT_REFUSED(Checkpoint::open(folder.path), "safe_serialization");
  folder.add("one.safetensors", {"a"});
  folder.add("two.safetensors", {"a"});
  EXPECT_REFUSED(Checkpoint::open(folder.path), "several weights: 'one.safetensors', 'two");
  fs::create_directory(folder.path / "vae");
  EXPECT_REFUSED(Checkpoint::open(folder.path), "vae holds no weights");
}

TEST(Checkpoint, PickledWeightsAreRefused) {
  EXPECT_REFUSED(Checkpoint::open(io_data("two.pt")), "a zip archive (torch.save writes these)");
  EXPECT_REFUSED(Checkpoint::open(io_data("legacy.pt")), "a Python pickle");
}

TEST(Checkpoint, AMissingTensorBringsTheNearestNames) {
  const CheckpointFolder folder;
  const auto checkpoint = Checkpoint::open(
      folder.add("x.safetensors", {"decoder.conv_in.weight", "decoder.conv_in.bias", "quant"}));
  EXPECT_REFUSED(checkpoint.read("decoder.conv_in.wieght"),
                 "has no tensor 'decoder.conv_in.wieght'; did you mean 'decoder.conv_in.weight'");
}

TEST(Checkpoint, PartsAreThoseOfTheShard) {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.safetensors";
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kByte, at::kFloat8_e4m3fn, at::kBool}) {
    const auto whole = at::arange(7 * 5 * 3, at::kFloat).reshape({7, 5, 3}).to(dtype);
    write_safetensors(path, {{"w", whole}});
    const auto checkpoint = Checkpoint::open(path);
    for (int64_t axis = 0; axis < 3; ++axis)
      for (int64_t parts = 1; parts < 9; ++parts) {
        const Shard shard{.axis = axis, .parts = parts};
        for (int64_t part = 0; part < parts; ++part) {
          const Range range = even_part(whole.size(axis), parts, part);
          EXPECT_TENSOR_EQ(checkpoint.read("w", shard, part),
                           whole.slice(axis, range.begin, range.end).contiguous());
        }
      }
  }
}

TEST(Checkpoint, PackedSegmentsAreCutAlike) {
  const TemporaryFolder folder;
  write_safetensors(folder.path / "x.safetensors", {{"qkv", at::arange(12, at::kInt)}});
  const auto checkpoint = Checkpoint::open(folder.path / "x.safetensors");
  const Shard shard{.axis = 0, .parts = 2, .segments = {6, 3, 3}};
  EXPECT_TENSOR_EQ(checkpoint.read("qkv", shard, 1), at::tensor({3, 4, 5, 7, 8, 10, 11}, at::kInt));
  EXPECT_REFUSED(checkpoint.read("qkv", {.axis = 1, .parts = 2}, 0), "has no axis 1");
  EXPECT_REFUSED(checkpoint.read("qkv", {.axis = -1, .parts = 2}, 0), "has no axis -1");
  EXPECT_REFUSED(checkpoint.read("qkv", {.axis = 0, .parts = 2}, 2), "part 2 of 2");
  EXPECT_TENSOR_EQ(checkpoint.read("qkv", {}, 0), at::arange(12, at::kInt));
}

TEST(Checkpoint, RenamedTensorsAreTheSame) {
  const CheckpointFolder folder;
  const auto checkpoint = Checkpoint::open(folder.add("x.safetensors", {"a", "bb", "ccc"}));
  const auto renamed = checkpoint.renamed({{"a", "x"}, {"bb", ""}, {"unknown", "y"}});
  EXPECT_EQ(renamed.names(), (Names{"ccc", "x"}));
  EXPECT_TENSOR_EQ(renamed.read("x"), at::full({2}, 1.0F));
  EXPECT_EQ(renamed.bytes(), 16);
  EXPECT_EQ(checkpoint.names().size(), 3);
  EXPECT_REFUSED(checkpoint.renamed({{"a", "x"}, {"bb", "x"}}),
                 "tensors 'a' and 'bb' would both be called 'x'");
  EXPECT_EQ(checkpoint.renamed({{"a", "bb"}, {"bb", "a"}}).read("a").size(0), 2);
  EXPECT_TENSOR_EQ(checkpoint.renamed({{"a", "bb"}, {"bb", "a"}}).read("a"), at::full({2}, 2.0F));
}

}  // namespace
}  // namespace intarsia::test
