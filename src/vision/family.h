#pragma once
#include <string>

namespace intarsia::vision {

enum class Activation { kGeluTanh, kGelu, kQuickGelu, kSilu };

/// What differs between the encoders, as data.
struct Family {
  const char* model_type;  ///< of vision_config, without a trailing "_vision"
  bool rms_norm;
  bool patch_bias;
  const char* gate;  ///< names of the MLP's layers; gate null: not gated
  const char* up;
  const char* down;
  const char* merger_norm;
  const char* merger_up;
  const char* merger_down;
};

/// Throws std::invalid_argument with the list of those known.
const Family& family_of(const std::string& model_type);

Activation activation_of(const std::string& hidden_act);

}  // namespace intarsia::vision
