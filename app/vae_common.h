#pragma once
#include <intarsia/picture.h>
#include <intarsia/vae.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/outputs.h"
#include "app/verbs.h"

namespace intarsia::app {

/// Latents of a file in model space.
at::Tensor load_latents(const Common& common, const std::string& file, const std::string& tensor,
                        const std::string& space, const vae::KlConfig& config,
                        std::optional<int64_t> height, std::optional<int64_t> width);

/// A picture as [1, 3, H, W], cut or padded ("crop", "pad") to whole latent units.
at::Tensor load_pixels(const Common& common, const std::string& file, const std::string& fit,
                       int64_t ratio, int64_t max_pixels);

/// Says why a mode was chosen, unless it is the one that was asked for.
void say_why(const Common& common, vae::Mode asked, const vae::RunPlan& plan);

/// "mode tile (why): 3x4 tiles on 4 ranks, 12.3 s, peak 612 MiB".
std::string summary(const vae::RunPlan& plan, const std::vector<RankReport>& ranks, double seconds);
nlohmann::json plan_json(const vae::RunPlan& plan);
nlohmann::json ranks_json(const std::vector<RankReport>& ranks);
/// The table of --timings.
std::string timings(const std::vector<RankReport>& ranks);
/// A number, or the word where JSON has none.
nlohmann::json figure(double value);
int64_t peak_of(const std::vector<RankReport>& ranks);

}  // namespace intarsia::app
