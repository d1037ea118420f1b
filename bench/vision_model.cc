// Writes a Qwen3-VL-2B's vision encoder (24 blocks of width 1024) with seeded random weights, for
// `intarsia vision bench` and for peers, as real ones cannot be shipped.
// usage: vision_model FOLDER [BLOCKS] [float32|bfloat16]
#include <intarsia/tensor_file.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "aten.h"

namespace {

struct Writer {
  at::ScalarType dtype;
  at::Generator generator = at::detail::createCPUGenerator(1);
  std::vector<std::pair<std::string, at::Tensor>> tensors = {};

  void add(const std::string& name, at::IntArrayRef shape, double scale) {
    tensors.emplace_back("model.visual." + name, (at::randn(shape, generator) * scale).to(dtype));
  }
  void norm(const std::string& name, int64_t width) {
    tensors.emplace_back("model.visual." + name + ".weight", at::ones({width}).to(dtype));
    add(name + ".bias", {width}, 0.02);
  }
  void linear(const std::string& name, int64_t out, int64_t in) {
    add(name + ".weight", {out, in}, 1 / std::sqrt(double(in)));
    add(name + ".bias", {out}, 0.02);
  }
  void merger(const std::string& name, int64_t norm_width) {
    norm(name + ".norm", norm_width);
    linear(name + ".linear_fc1", 4096, 4096);
    linear(name + ".linear_fc2", 2048, 4096);
  }
};

void write_configs(const std::filesystem::path& folder, int64_t depth) {
  std::ofstream(folder / "config.json")
      << R"({"model_type": "qwen3_vl", "vision_config": {"model_type": "qwen3_vl", "depth": )"
      << depth
      << R"(, "hidden_size": 1024, "num_heads": 16, "intermediate_size": 4096, "out_hidden_size": 2048,
 "hidden_act": "gelu_pytorch_tanh", "patch_size": 16, "temporal_patch_size": 2, "spatial_merge_size": 2,
 "in_channels": 3, "num_position_embeddings": 2304, "deepstack_visual_indexes": )"
      << (depth > 17 ? "[5, 11, 17]" : "[]") << "}}\n";
  std::ofstream(folder / "preprocessor_config.json")
      << R"({"image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16, "temporal_patch_size": 2,
 "merge_size": 2, "size": {"shortest_edge": 65536, "longest_edge": 16777216},
 "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})"
      << "\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: vision_model FOLDER [BLOCKS] [float32|bfloat16]\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const int64_t depth = argc > 2 ? std::atoll(argv[2]) : 24;
  const bool half = argc > 3 && std::string(argv[3]) == "bfloat16";
  std::filesystem::create_directories(folder);
  Writer w{.dtype = half ? at::kBFloat16 : at::kFloat};
  w.add("patch_embed.proj.weight", {1024, 3, 2, 16, 16}, 1 / std::sqrt(1536.0));
  w.add("patch_embed.proj.bias", {1024}, 0.02);
  w.add("pos_embed.weight", {2304, 1024}, 0.02);
  for (int64_t i = 0; i < depth; ++i) {
    const std::string at = "blocks." + std::to_string(i) + ".";
    w.norm(at + "norm1", 1024);
    w.norm(at + "norm2", 1024);
    w.linear(at + "attn.qkv", 3072, 1024);
    w.linear(at + "attn.proj", 1024, 1024);
    w.linear(at + "mlp.linear_fc1", 4096, 1024);
    w.linear(at + "mlp.linear_fc2", 1024, 4096);
  }
  w.merger("merger", 1024);
  for (int64_t j = 0; depth > 17 && j < 3; ++j)
    w.merger("deepstack_merger_list." + std::to_string(j), 4096);
  intarsia::write_safetensors(folder / "model.safetensors", w.tensors);
  write_configs(folder, depth);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "vision_model: " << e.what() << "\n";
  return 1;
}
