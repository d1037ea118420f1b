#pragma once
#include <CLI/CLI.hpp>

#include "app/verbs.h"

namespace intarsia::app {

void add_common(CLI::App& verb, Common& common);
/// The flags for how a VAE runs. prefix: "" or, for a second setting, "b-".
void add_vae(CLI::App& verb, VaeFlags& flags, const std::string& prefix = "");
void add_vision(CLI::App& verb, VisionFlags& flags);
/// The line that ends a verb's --help: it runs on the bundled assets.
void add_example(CLI::App& verb, const std::string& command);

}  // namespace intarsia::app
