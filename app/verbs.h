#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/common.h"

// One function a verb, each in the file of its name. They return the exit code.
namespace intarsia::app {

/// How a VAE is run: the flags that decode, encode, roundtrip, compare and plan share.
struct VaeFlags {
  std::string mode = "auto";
  std::optional<int64_t> tile;
  double overlap = 0.25;
  std::string memory;  ///< "" : what is free
  int64_t parts = 0;
  int threads_per_tile = 1;
  bool broadcast = false;
  bool timings = false;
};
vae::RunOptions run_options(const Common& common, const VaeFlags& flags);

struct DecodeArgs {
  Common common;
  VaeFlags vae;
  std::string model;
  std::vector<std::string> latents;
  std::string out;
  std::string space = "model";
  std::string tensor;
  std::optional<int64_t> height, width;
  int bits = 8;
  int jpeg_quality = 95;
  bool exact = false;
};
int vae_decode(const DecodeArgs& args);

struct EncodeArgs {
  Common common;
  VaeFlags vae;
  std::string model;
  std::vector<std::string> pictures;
  std::string out;
  std::string space = "model";
  std::string fit = "crop";
  std::optional<uint64_t> sample;  ///< seed; absent: the mode
  int64_t max_pixels = 268'435'456;
};
int vae_encode(const EncodeArgs& args);

struct RoundtripArgs {
  EncodeArgs encode;  ///< out: the picture side by side
};
int vae_roundtrip(const RoundtripArgs& args);

struct CompareArgs {
  Common common;
  std::string first_input;   ///< picture or tensor; with `settings` the model
  std::string second_input;  ///< picture or tensor; with `settings` the latent
  std::string out;           ///< heat map
  bool seams = false;
  int64_t seam_every = 0;  ///< pixels between tile borders, where no model says
  VaeFlags first;
  VaeFlags second;
  bool settings = false;  ///< one latent under two settings
  std::string space = "model";
  double tolerance = 0;  ///< exit 1 above it
};
int vae_compare(const CompareArgs& args);

struct PlanArgs {
  Common common;
  VaeFlags vae;
  std::string model;
  std::string size;  ///< WIDTHxHEIGHT in pixels
  int64_t batch = 1;
  bool encode = false;
  std::string out;
};
int vae_plan(const PlanArgs& args);

/// How a vision encoder is run.
struct VisionFlags {
  std::optional<int64_t> tp, dp;
  std::string tp_fallback = "refuse";
  std::string packing = "none";
  int64_t block_size = 2048;
  std::string buckets;
  std::string split = "auto";
  std::string resize = "pillow";
  int64_t max_pixels = 268'435'456;
};

struct VisionEncodeArgs {
  Common common;
  VisionFlags flags;
  std::string model;
  std::vector<std::string> files;
  std::string out;
  std::string metrics;
  bool jsonl = false;
  bool similarity = false;
  bool timings = false;
};
int vision_encode(const VisionEncodeArgs& args);

struct VisionPlanArgs {
  Common common;
  VisionFlags flags;
  std::string model;
  std::vector<std::string> files;
  std::string out;
};
int vision_plan(const VisionPlanArgs& args);

struct VisionBenchArgs {
  Common common;
  std::string model;
  std::string mix = "256x256:8,640x480:4,1280x720:1";
  int64_t block_size = 4096;
  int64_t rounds = 3;
};
int vision_bench(const VisionBenchArgs& args);

struct VerifyArgs {
  Common common;
  std::optional<int64_t> tp;  ///< vision encoders: ranks that share the weights
  std::string folder;
  std::string filter;
};
int verify(const VerifyArgs& args);

struct InfoArgs {
  Common common;
  std::string model;
  bool tensors = false;
};
int info(const InfoArgs& args);

}  // namespace intarsia::app
