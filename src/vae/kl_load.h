#pragma once
#include <intarsia/vae.h>

#include "vae/kl_model.h"

namespace intarsia::vae {

struct AutoencoderKL::Weights {
  KlConfig config;
  at::ScalarType dtype = at::ScalarType::Float;
  at::Device device = at::Device(at::DeviceType::CPU);
  std::optional<Decoder> decoder;
  std::optional<Encoder> encoder;
  int64_t bytes = 0;
  std::vector<std::string> notes;
};

}  // namespace intarsia::vae
