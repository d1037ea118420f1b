#include <ATen/Parallel.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "app/vision_common.h"
#include "aten.h"
#include "check.h"

namespace intarsia::app {
namespace {

using nlohmann::json;

/// A way to run, and how long it took.
struct Setting {
  TpDp split;
  int64_t block_size = 0;
  std::vector<double> seconds = {};
  std::string name() const {
    return c10::str("tp ", split.tp, ", dp ", split.dp, block_size > 0 ? ", blocks" : "");
  }
};

/// "256x256:8,1280x720" → grids of eight small and one large picture.
std::vector<vision::Grid> mix_of(const std::string& text, const vision::ProcessorConfig& config) {
  std::vector<vision::Grid> grids;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    long long w = 0, h = 0, count = 1;
    const int read = std::sscanf(word.c_str(), "%lldx%lld:%lld", &w, &h, &count);
    check(read >= 2 && w > 0 && h > 0 && count > 0 && count <= 4096, "--mix ", text, ": \"", word,
          "\" is not WIDTHxHEIGHT or WIDTHxHEIGHT:COUNT");
    for (long long i = 0; i < count; ++i) grids.push_back(vision::grid_of(w, h, config));
  }
  check(!grids.empty(), "--mix is empty; write 256x256:8,1280x720");
  return grids;
}

std::vector<vision::Item> noise(const std::vector<vision::Grid>& grids, int64_t features) {
  std::vector<vision::Item> items;
  for (size_t i = 0; i < grids.size(); ++i) {
    auto generator = at::detail::createCPUGenerator(i + 1);
    const at::Tensor x = at::randn({grids[i].patches(), features}, generator).clamp_(-1, 1);
    items.push_back({c10::str("#", i), grids[i], [x] { return x; }});
  }
  return items;
}

std::vector<Setting> settings_of(const vision::VisionConfig& config, int ranks,
                                 int64_t block_size) {
  std::vector<Setting> settings;
  const auto legal = vision::legal_tp(config);
  for (int n = 1; n <= ranks; n *= 2)
    for (const int64_t tp : legal)
      if (n % tp == 0) settings.push_back({.split = {tp, n / tp}});
  if (block_size > 0) settings.push_back({.split = {1, 1}, .block_size = block_size});
  return settings;
}

/// The encoders of all settings, on the ranks that are in them; others hold nothing.
using Encoders = std::vector<std::optional<vision::Encoder>>;

Encoders load_all(const VisionBenchArgs& args, const std::vector<Setting>& settings, Group& world) {
  Encoders encoders;
  for (const Setting& s : settings) {
    const bool inside = world.rank() < s.split.tp * s.split.dp;
    Group group = world.split(inside ? 0 : -1);
    encoders.emplace_back();
    if (inside)
      encoders.back() = vision::Encoder::load(
          args.model, group,
          {.tp = s.split.tp, .dp = s.split.dp, .dtype = dtype_of(args.common.dtype)});
  }
  return encoders;
}

void round(const VisionBenchArgs& args, std::vector<Setting>& settings, const Encoders& encoders,
           const std::vector<vision::Item>& items, Group& world, bool count) {
  for (size_t i = 0; i < settings.size(); ++i) {
    Setting& s = settings[i];
    world.barrier();
    const Stopwatch watch;
    if (encoders[i]) {
      const int cores = args.common.threads > 0 ? args.common.threads : launch::cores();
      at::set_num_threads(std::max<int>(1, cores / int(s.split.tp * s.split.dp)));
      encoders[i]->encode(items, {.block_size = s.block_size});
    }
    world.barrier();
    if (count && world.rank() == 0) s.seconds.push_back(watch.seconds());
  }
}

void print(const VisionBenchArgs& args, std::vector<Setting>& settings,
           const std::vector<vision::Item>& items) {
  double patches = 0, first = 0;
  for (const auto& item : items) patches += double(item.grid.patches());
  std::vector<std::vector<std::string>> rows{
      {"setting", "least s", "median s", "against the first", "patches/s"}};
  json all = json::array();
  for (Setting& s : settings) {
    std::sort(s.seconds.begin(), s.seconds.end());
    const double median = s.seconds[s.seconds.size() / 2];
    if (first == 0) first = median;
    rows.push_back({s.name(), number(s.seconds.front(), 3), number(median, 3),
                    number(median / first, 3), number(patches / median, 0)});
    all.push_back({{"tp", s.split.tp},
                   {"dp", s.split.dp},
                   {"block_size", s.block_size},
                   {"least", s.seconds.front()},
                   {"median", median},
                   {"ratio", median / first}});
  }
  if (args.common.json)
    std::cout << json{{"items", items.size()}, {"patches", patches}, {"settings", all}}.dump(1)
              << std::endl;
  else
    std::cout << items.size() << " items, " << patches << " patches\n" << table(rows) << std::flush;
}

}  // namespace

int vision_bench(const VisionBenchArgs& args) {
  check(args.rounds >= 1, "--rounds ", args.rounds, "; use 1 or more");
  const auto config = vision::read_vision_config(args.model);
  const auto items =
      noise(mix_of(args.mix, vision::read_processor_config(args.model)), config.features());
  Common common = args.common;
  if (common.ranks == 0) common.ranks = launch::cores();
  auto settings = settings_of(config, common.ranks, args.block_size);
  on_ranks(common, [&](Group& world) {
    const Encoders encoders = load_all(args, settings, world);
    for (int64_t r = -1; r < args.rounds; ++r)  // the first warms up
      round(args, settings, encoders, items, world, r >= 0);
    if (world.rank() == 0) print(args, settings, items);
    world.barrier();
  });
  return 0;
}

}  // namespace intarsia::app
