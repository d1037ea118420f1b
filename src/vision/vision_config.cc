#include <intarsia/vision.h>

#include <numeric>

#include "check.h"
#include "io/json.h"
#include "io/mapped_file.h"
#include "vision/family.h"

namespace intarsia::vision {
namespace {

using io::JsonReader;
using nlohmann::json;

int64_t positive(const JsonReader& r, const char* key, int64_t otherwise = 0) {
  int64_t value = otherwise;
  r.read(key, value);
  check(value > 0, r.file, ": vision_config.", key, " is ", value, "; it must be there, above 0");
  return value;
}

JsonReader open(const std::filesystem::path& path) {
  const auto file = std::filesystem::is_directory(path) ? path / "config.json" : path;
  const io::MappedFile mapped(file);
  const json whole = io::parse_json(mapped.bytes(), file.string());
  check(whole.is_object() && whole.contains("vision_config") && whole["vision_config"].is_object(),
        file.string(), " has no vision_config: it describes no model with a vision encoder");
  JsonReader r{file.string(), whole["vision_config"], "vision_config."};
  if (!r.object.contains("model_type") && whole.contains("model_type"))
    r.object["model_type"] = whole["model_type"];
  return r;
}

std::string type_of(const JsonReader& r) {
  std::string type;
  r.read("model_type", type);
  const std::string tail = "_vision";
  return type.ends_with(tail) ? type.substr(0, type.size() - tail.size()) : type;
}

void read_widths(const JsonReader& r, VisionConfig& c) {
  if (r.has("embed_dim")) {  // Qwen2-VL: hidden_size is the output's width
    c.hidden = positive(r, "embed_dim");
    c.out_hidden = positive(r, "hidden_size");
    double ratio = 4;
    r.read("mlp_ratio", ratio);
    c.intermediate = int64_t(double(c.hidden) * ratio);
    return;
  }
  c.hidden = positive(r, "hidden_size");
  c.out_hidden = positive(r, "out_hidden_size");
  c.intermediate = positive(r, "intermediate_size");
}

void check_blocks(const JsonReader& r, const char* key, const std::vector<int64_t>& blocks,
                  int64_t depth) {
  for (const int64_t b : blocks)
    check(b >= 0 && b < depth, r.file, ": vision_config.", key, " names block ", b, " of ", depth);
}

void check_config(const JsonReader& r, const VisionConfig& c) {
  check(c.hidden % c.heads == 0 && c.head_dim() % 4 == 0, r.file, ": a hidden_size of ", c.hidden,
        " does not give ", c.heads, " heads of a width that divides by 4");
  check_blocks(r, "deepstack_visual_indexes", c.deepstack, c.depth);
  check_blocks(r, "fullatt_block_indexes", c.full_attention, c.depth);
  const auto side = int64_t(std::sqrt(double(c.position_rows)));
  check(side * side == c.position_rows, r.file, ": num_position_embeddings is ", c.position_rows,
        "; it must be a square");
  const int64_t cell = c.merge * c.patch_size;
  check(c.window % cell == 0, r.file, ": window_size ", c.window, " is no multiple of ", cell);
}

}  // namespace

VisionConfig read_vision_config(const std::filesystem::path& path) {
  const JsonReader r = open(path);
  VisionConfig c;
  c.model_type = type_of(r);
  const Family& family = family_of(c.model_type);
  c.depth = positive(r, "depth");
  read_widths(r, c);
  c.heads = positive(r, "num_heads");
  r.read("in_channels", c.in_channels);
  if (r.has("in_chans")) r.read("in_chans", c.in_channels);
  c.patch_size = positive(r, "patch_size", 14);
  c.temporal_patch_size = positive(r, "temporal_patch_size", 2);
  c.merge = positive(r, "spatial_merge_size", 2);
  r.read("num_position_embeddings", c.position_rows);
  r.read("deepstack_visual_indexes", c.deepstack);
  if (family.rms_norm) c.window = positive(r, "window_size", 112);
  r.read("fullatt_block_indexes", c.full_attention);
  r.read("hidden_act", c.hidden_act);
  activation_of(c.hidden_act);
  if (r.has("rope_parameters")) c.theta = r.object["rope_parameters"].value("rope_theta", c.theta);
  check_config(r, c);
  return c;
}

std::vector<int64_t> legal_tp(const VisionConfig& c) {
  const int64_t common = std::gcd(std::gcd(c.heads, c.intermediate), c.cell() * c.hidden);
  std::vector<int64_t> degrees;
  for (int64_t tp = 1; tp <= common; ++tp)
    if (common % tp == 0) degrees.push_back(tp);
  return degrees;
}

Cost flops(const VisionConfig& c) {
  const auto d = double(c.depth), h = double(c.hidden), i = double(c.intermediate);
  const double mlp = family_of(c.model_type).gate ? 3 : 2;
  const double wide = double(c.cell()) * h;
  const double mergers = double(c.levels()) * 2 * (wide * wide + wide * double(c.out_hidden));
  return {.quadratic = 4 * h * d,
          .linear = d * 2 * (4 * h * h + mlp * h * i) + mergers / double(c.cell()) +
                    2 * h * double(c.features()),
          .constant = 0};
}

}  // namespace intarsia::vision
