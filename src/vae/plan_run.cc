#include <intarsia/launch.h>
#include <intarsia/vae.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "aten.h"
#include "check.h"
#include "group/memory.h"

namespace intarsia::vae {
namespace {

/// libtorch, code and small things, before any weight; measured by bench/vae_memory.
constexpr int64_t kProcessBytes = 240 << 20;
/// What the first convolution brings in for good: code pages, oneDNN's kernels and weight layouts.
constexpr int64_t kFirstRunBytes = 80 << 20;

std::string gib(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", double(bytes) / double(1 << 30));
  return text;
}

/// What stays the same while modes are tried.
struct Case {
  const KlConfig& config;
  const RunInput& in;
  const RunOptions& options;
  int64_t budget = 0;
  int64_t parts = 1;
  int cores = 1;

  bool decoding() const { return in.direction == Direction::kDecode; }
  Scale scale() const {
    const int64_t f = config.ratio();
    return decoding() ? Scale{f, 1} : Scale{1, f};
  }
  int64_t task_bytes(int64_t h, int64_t w) const {
    return activation_bytes(config, in.direction, h, w, in.dtype);
  }
};

Case make_case(const KlConfig& config, const RunInput& in, const RunOptions& options) {
  check(in.batch >= 1 && in.height >= 1 && in.width >= 1, "nothing to do: batch ", in.batch,
        " of size ", in.height, "x", in.width);
  check(in.direction == Direction::kDecode || std::min(in.height, in.width) >= config.ratio(),
        "a picture of ", in.width, "x", in.height, " pixels is smaller than one latent unit of ",
        config.ratio(), "x", config.ratio());
  check(options.parts >= 0, "parts is ", options.parts, "; use 0 (all ranks) or more");
  check(options.memory >= 0, "a memory budget of ", options.memory, " bytes; use 0 (what is free)");
  check(options.threads >= 0 && options.threads_per_tile >= 1, "threads are ", options.threads,
        " and per tile ", options.threads_per_tile, "; use 1 or more (threads: 0 is all cores)");
  Case c{config, in, options};
  c.budget = options.memory > 0 ? options.memory : free_memory() + resident_memory();
  c.parts = options.parts == 0 ? in.ranks : std::min<int64_t>(options.parts, in.ranks);
  c.cores = options.threads > 0 ? options.threads : launch::cores();
  return c;
}

/// Everything that is not activations: libraries and weights, input, tiles and picture on rank 0.
int64_t fixed_bytes(const Case& c, const RunPlan& p) {
  const int64_t weights =
      parameter_count(c.config, c.decoding() ? Part::kDecoder : Part::kEncoder) *
      int64_t(c10::elementSize(c.in.dtype));
  const int64_t base = c.in.baseline > 0 ? c.in.baseline : kProcessBytes + weights;
  const int64_t channels = c.decoding() ? c.config.out_channels : 2 * c.config.latent_channels;
  const int64_t in_channels = c.decoding() ? c.config.latent_channels : c.config.in_channels;
  const int64_t out = c.in.batch * channels * p.out_height * p.out_width * 4;
  const int64_t in = c.in.batch * in_channels * c.in.height * c.in.width * 4;
  // Output, its pieces before the merge, and its conversion to pixels.
  return base + 2 * in + int64_t(double(out) * (2 + p.arithmetic));
}

/// Tasks that run at once in one process.
int64_t at_once(const Case& c, const RunPlan& p) {
  int64_t sum = 0;
  for (int r = 0; r < std::min<int>(c.in.process_ranks, int(p.owners.size())); ++r)
    sum += std::min<int64_t>(p.workers, int64_t(p.owners[r].size()));
  return std::max<int64_t>(sum, 1);
}

void predict(const Case& c, RunPlan& p) {
  // Scratch of convolutions and fragments of the heap; measured by bench/vae_memory.
  const int64_t task = p.task_bytes + p.task_bytes / 8 + (8 << 20);
  p.peak_bytes = fixed_bytes(c, p) + kFirstRunBytes + at_once(c, p) * task;
}

void share_out(const Case& c, RunPlan& p, int64_t parts) {
  p.owners = balance(p.workloads, parts);
  p.owners.resize(c.in.ranks);
  predict(c, p);
}

/// Gives tasks to ranks and workers to ranks; fewer at once if memory asks for it.
void schedule(const Case& c, RunPlan& p, int threads_per_task) {
  p.threads_per_task = threads_per_task;
  const int share = std::max(1, c.cores / std::max(1, c.in.local_ranks));
  p.workers = std::max(1, share / threads_per_task);
  share_out(c, p, c.parts);
  while (p.peak_bytes > c.budget && p.workers > 1) {
    --p.workers;
    predict(c, p);
  }
  for (int64_t parts = c.parts - 1; p.peak_bytes > c.budget && parts >= 1; --parts)
    share_out(c, p, parts);
}

RunPlan plan_whole(const Case& c, std::string why) {
  RunPlan p;
  p.mode = Mode::kNone;
  p.why = std::move(why);
  p.out_height = c.scale().floor(c.in.height);
  p.out_width = c.scale().floor(c.in.width);
  p.workloads.assign(c.in.batch, double(c.in.height) * double(c.in.width));
  p.task_bytes = c.task_bytes(c.in.height, c.in.width);
  schedule(c, p, std::max<int>(1, c.cores / int(std::min<int64_t>(c.in.batch, c.cores))));
  return p;
}

/// More tiles than this are a mistake in a size; counted before a grid is made.
constexpr int64_t kMostTiles = 1'000'000;

void check_count(const Case& c, const TileRule& rule) {
  const auto along = [&](int64_t extent) { return (extent + rule.stride - 1) / rule.stride; };
  const int64_t rows = along(c.in.height), cols = along(c.in.width);
  check(rows <= kMostTiles && cols <= kMostTiles && rows * cols <= kMostTiles, rows, "x", cols,
        " tiles are more than ", kMostTiles, "; use larger tiles or a smaller picture");
}

/// What no mode does without: input, output and the process itself.
int64_t least_bytes(const Case& c) {
  RunPlan p;
  p.out_height = c.scale().floor(c.in.height);
  p.out_width = c.scale().floor(c.in.width);
  return fixed_bytes(c, p) + kFirstRunBytes + (8 << 20);
}

void check_thin_tiles(const Case& c, const TileRule& rule) {
  const int64_t f = c.config.ratio();
  for (const auto& [extent, axis] : {std::pair{c.in.height, "height"}, {c.in.width, "width"}})
    for (const TileSpan& s : tile_axis(extent, rule))
      check(c.decoding() || s.out > 0, "a ", axis, " of ", extent, " pixels leaves a last tile of ",
            s.in.size(), " pixels, less than one latent unit of ", f, "; crop or pad it to ",
            extent / f * f, " or ", (extent + f - 1) / f * f);
}

RunPlan plan_tiles(const Case& c, const TileSettings& settings, std::string why) {
  const TileRule rule = tile_rule(c.config, c.in.direction, settings);
  check_count(c, rule);
  RunPlan p;
  p.mode = Mode::kTile;
  p.why = std::move(why);
  check_thin_tiles(c, rule);
  p.grid = tile_grid(c.in.height, c.in.width, rule, rule);
  p.out_height = p.grid.out_height();
  p.out_width = p.grid.out_width();
  p.workloads = p.grid.workloads();
  p.arithmetic = std::accumulate(p.workloads.begin(), p.workloads.end(), 0.0) /
                 (double(c.in.height) * double(c.in.width));
  for (const TileSpan& row : p.grid.rows)
    for (const TileSpan& col : p.grid.cols)
      p.task_bytes =
          std::max(p.task_bytes, c.in.batch * c.task_bytes(row.in.size(), col.in.size()));
  schedule(c, p, c.options.threads_per_tile);
  return p;
}

bool larger_than_tile(const Case& c, const TileRule& rule) {
  return c.in.height > rule.tile || c.in.width > rule.tile;
}

/// The model's tile, or the largest smaller one that fits the memory. least: what the most frugal
/// one takes.
std::optional<RunPlan> tiles_that_fit(const Case& c, const std::string& why, int64_t& least) {
  least = least_bytes(c);
  if (least > c.budget) return std::nullopt;
  int64_t seen = std::numeric_limits<int64_t>::max();
  const int64_t f = c.config.ratio();
  TileSettings settings = c.options.tiles;
  const int64_t usual = c.scale().num > 1 || c.decoding()
                            ? tile_rule(c.config, Direction::kDecode, settings).tile * f
                            : tile_rule(c.config, Direction::kEncode, settings).tile;
  for (int64_t tile = usual; tile >= f; tile -= f) {
    settings.tile = tile;
    try {
      RunPlan p = plan_tiles(c, settings, why);
      least = seen = std::min(seen, p.peak_bytes);
      if (p.peak_bytes > c.budget) continue;
      p.why +=
          c10::str("; tiles of ", tile, " pixels", tile < usual ? ", the largest that fit" : "");
      return p;
    } catch (const std::invalid_argument&) {  // no whole overlap at this size: try the next
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse_memory(const Case& c, const RunPlan& p, const std::string& instead) {
  throw std::invalid_argument(c10::str("this takes about ", gib(p.peak_bytes), ", the budget is ",
                                       gib(c.budget), "; ", instead));
}

RunPlan plan_tile_mode(const Case& c) {
  const TileRule rule = tile_rule(c.config, c.in.direction, c.options.tiles);
  if (!larger_than_tile(c, rule))
    return plan_whole(c, "not larger than one tile, so there is nothing to tile");
  RunPlan p = plan_tiles(c, c.options.tiles, "tiles were asked for");
  if (p.peak_bytes <= c.budget) return p;
  int64_t least = 0;
  auto smaller = tiles_that_fit(c, "tiles were asked for", least);
  if (!smaller)
    refuse_memory(c, p, "no tile is small enough: give about " + gib(least) + " or more");
  if (c.options.tiles.tile)
    refuse_memory(c, p, "leave --tile out, or use a smaller one; " + smaller->why);
  return *smaller;
}

RunPlan plan_auto(const Case& c) {
  RunPlan whole = plan_whole(c, "");
  const std::string need = gib(whole.peak_bytes) + " for the whole picture";
  if (whole.peak_bytes <= c.budget) {
    whole.why = need + " fits the budget of " + gib(c.budget);
    if (c.in.ranks > c.in.batch)
      whole.notes.push_back(
          c10::str("whole on ", c.in.batch, " of ", c.in.ranks,
                   " ranks, with all threads; --mode tile shares the work among all"));
    return whole;
  }
  int64_t least = 0;
  auto tiles = tiles_that_fit(c, need + " is over the budget of " + gib(c.budget), least);
  if (!tiles)
    refuse_memory(c, whole,
                  "no tile is small enough either: give about " + gib(least) + " or more");
  return *tiles;
}

RunPlan plan_patches(const Case& c) {
  check(c.decoding(), "mode patch only decodes; encode with none, tile or auto");
  const TileRule rule = tile_rule(c.config, c.in.direction, c.options.tiles);
  check(!larger_than_tile(c, rule), "mode patch is for pictures no larger than a tile of ",
        rule.tile * c.config.ratio(), " pixels; this one is ", c.in.width * c.config.ratio(), "x",
        c.in.height * c.config.ratio(), ": use --mode tile");
  RunPlan p;
  p.mode = Mode::kPatch;
  p.why = "patches were asked for: near the whole result, not equal to it";
  p.out_height = c.scale().floor(c.in.height);
  p.out_width = c.scale().floor(c.in.width);
  p.patches = patch_grid(c.in.height, c.in.width, c.parts,
                         int64_t(double(rule.tile) * c.options.tiles.overlap) / 2);
  double area = 0;
  for (const PatchCell& cell : p.patches.cells) {
    p.workloads.push_back(double(cell.rows.size()) * double(cell.cols.size()));
    area += p.workloads.back();
    p.task_bytes =
        std::max(p.task_bytes, c.in.batch * c.task_bytes(cell.rows.size(), cell.cols.size()));
  }
  p.arithmetic = area / (double(c.in.height) * double(c.in.width));
  schedule(c, p, c.options.threads_per_tile);
  return p;
}

}  // namespace

std::string name_of(Mode mode) {
  switch (mode) {
    case Mode::kAuto:
      return "auto";
    case Mode::kNone:
      return "none";
    case Mode::kTile:
      return "tile";
    case Mode::kPatch:
      return "patch";
  }
  return "";
}

Mode mode_of(const std::string& name) {
  for (const Mode mode : {Mode::kAuto, Mode::kNone, Mode::kTile, Mode::kPatch})
    if (name == name_of(mode)) return mode;
  check(false, "mode cannot be \"", name, "\"; use auto, none, tile or patch");
  return Mode::kAuto;
}

RunPlan plan_run(const KlConfig& config, const RunInput& input, const RunOptions& options) {
  const Case c = make_case(config, input, options);
  RunPlan p;
  switch (options.mode) {
    case Mode::kAuto:
      p = plan_auto(c);
      break;
    case Mode::kNone:
      p = plan_whole(c, "the whole picture was asked for");
      break;
    case Mode::kTile:
      p = plan_tile_mode(c);
      break;
    case Mode::kPatch:
      p = plan_patches(c);
      break;
  }
  if (p.peak_bytes > c.budget) refuse_memory(c, p, "use --mode auto, which picks what fits");
  if (options.parts > c.parts)
    p.notes.push_back(c10::str(options.parts, " parts asked for, ", c.parts,
                               " used: the group has no more ranks"));
  if (!config.sample_size && !options.tiles.tile && p.mode == Mode::kTile)
    p.notes.push_back("the config has no sample_size: tiles of 512 pixels are used");
  return p;
}

}  // namespace intarsia::vae
