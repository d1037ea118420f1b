#include "vision/family.h"

#include <array>

#include "check.h"

namespace intarsia::vision {
namespace {

constexpr Family kQwen3{"qwen3_vl",   false,  true,         nullptr,     "linear_fc1",
                        "linear_fc2", "norm", "linear_fc1", "linear_fc2"};
constexpr Family kQwen2{"qwen2_vl", false, false, nullptr, "fc1", "fc2", "ln_q", "mlp.0", "mlp.2"};
constexpr Family kQwen25{"qwen2_5_vl", true,   false,   "gate_proj", "up_proj",
                         "down_proj",  "ln_q", "mlp.0", "mlp.2"};

constexpr Family named(Family family, const char* model_type) {
  family.model_type = model_type;
  return family;
}

constexpr std::array kFamilies{kQwen2,
                               kQwen25,
                               kQwen3,
                               named(kQwen3, "qwen3_vl_moe"),
                               named(kQwen3, "qwen3_5"),
                               named(kQwen3, "qwen3_5_moe")};

}  // namespace

const Family& family_of(const std::string& model_type) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (model_type == family.model_type) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  check(false, "the vision encoder is of type \"", model_type, "\"; supported: ", known);
  return kFamilies[0];
}

Activation activation_of(const std::string& hidden_act) {
  if (hidden_act == "gelu_pytorch_tanh") return Activation::kGeluTanh;
  if (hidden_act == "gelu") return Activation::kGelu;
  if (hidden_act == "quick_gelu") return Activation::kQuickGelu;
  if (hidden_act == "silu") return Activation::kSilu;
  check(false, "hidden_act is \"", hidden_act,
        "\"; supported: gelu_pytorch_tanh, gelu, quick_gelu, silu");
  return Activation::kGelu;
}

}  // namespace intarsia::vision
