#include <intarsia/draw.h>
#include <intarsia/picture.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "app/vae_common.h"
#include "aten.h"
#include "check.h"

namespace intarsia::app {
namespace {

using nlohmann::json;
using vae::Direction;
using vae::Mode;

struct Size {
  int64_t width = 0, height = 0;
};

Size size_of(const std::string& text) {
  long long width = 0, height = 0;
  char x = 0, rest = 0;
  const int read = std::sscanf(text.c_str(), "%lld%c%lld%c", &width, &x, &height, &rest);
  check(read == 3 && (x == 'x' || x == 'X') && width > 0 && height > 0 && width <= 1 << 24 &&
            height <= 1 << 24,
        "--size ", text, " is not WIDTHxHEIGHT in pixels; write 2048x1024");
  return {width, height};
}

vae::RunInput input_of(const PlanArgs& args, const vae::KlConfig& config, const Size& size) {
  const int64_t f = config.ratio();
  const auto up = [&](int64_t v) { return (v + f - 1) / f * f; };
  const auto down = [&](int64_t v) { return std::max(v / f * f, f); };
  check(size.width % f == 0 && size.height % f == 0, "--size ", args.size, ": the model works in ",
        f, "x", f, " pixels; the nearest that work are ", down(size.width), "x", down(size.height),
        " and ", up(size.width), "x", up(size.height));
  const int64_t unit = args.encode ? 1 : f;
  const int ranks = std::max(1, args.common.ranks);
  return {.direction = args.encode ? Direction::kEncode : Direction::kDecode,
          .batch = args.batch,
          .height = size.height / unit,
          .width = size.width / unit,
          .dtype = dtype_of(args.common.dtype),
          .ranks = ranks,
          .local_ranks = ranks,
          .process_ranks = ranks};
}

/// A task's place, in pixels of the picture.
struct Place {
  Range rows, cols;            ///< what is read
  Range kept_rows, kept_cols;  ///< what is its own in the result
};

Range times(const Range& r, int64_t f) { return {r.begin * f, r.end * f}; }

std::vector<Place> tile_places(const TileGrid& grid, int64_t f) {
  std::vector<Place> places;
  for (const TileSpan& row : grid.rows)
    for (const TileSpan& col : grid.cols) {
      const Range rows = times(row.in, f), cols = times(col.in, f);
      places.push_back({rows, cols, rows, cols});
    }
  const auto n = int64_t(grid.cols.size());
  for (int64_t id = 0; id < int64_t(places.size()); ++id) {  // kept: up to where the next begins
    Place& p = places[id];
    if (id % n + 1 < n) p.kept_cols.end = places[id + 1].cols.begin;
    if (id + n < int64_t(places.size())) p.kept_rows.end = places[id + n].rows.begin;
  }
  return places;
}

std::vector<Place> places_of(const vae::RunPlan& plan, const Size& size, int64_t unit) {
  if (plan.mode == Mode::kTile) return tile_places(plan.grid, unit);
  std::vector<Place> places;
  if (plan.mode == Mode::kPatch)
    for (const PatchCell& c : plan.patches.cells)
      places.push_back({times(c.rows, unit), times(c.cols, unit), times(c.core_rows, unit),
                        times(c.core_cols, unit)});
  const Range rows{0, size.height}, cols{0, size.width};
  if (plan.mode == Mode::kNone) places.push_back({rows, cols, rows, cols});
  return places;
}

std::vector<int> owner_of_each(const vae::RunPlan& plan) {
  std::vector<int> owner(plan.workloads.size(), 0);
  for (size_t r = 0; r < plan.owners.size(); ++r)
    for (const int64_t id : plan.owners[r]) owner[id] = int(r);
  return owner;
}

/// The picture: what each task keeps in the colour of its rank, with its number and rank.
void draw_plan(const std::string& path, const vae::RunPlan& plan, const Size& size, int64_t unit) {
  const double scale = std::min(1.0, 1024.0 / double(std::max(size.width, size.height)));
  const auto at_scale = [&](int64_t v) { return int64_t(double(v) * scale); };
  draw::Canvas canvas(at_scale(size.height) + 1, at_scale(size.width) + 1, {255, 255, 255});
  const auto places = places_of(plan, size, unit);
  const auto owner = owner_of_each(plan);
  const auto box = [&](const Range& rows, const Range& cols) {
    return draw::Box{at_scale(cols.begin), at_scale(rows.begin), at_scale(cols.end) + 1,
                     at_scale(rows.end) + 1};
  };
  for (size_t id = 0; id < places.size(); ++id)
    canvas.fill(box(places[id].kept_rows, places[id].kept_cols), draw::rank_colour(owner[id]));
  for (const Place& p : places) {  // what is computed beyond it, paler
    canvas.fill(box(p.rows, {p.kept_cols.end, p.cols.end}), {255, 255, 255}, 0.3);
    canvas.fill(box({p.kept_rows.end, p.rows.end}, p.cols), {255, 255, 255}, 0.3);
  }
  for (size_t id = 0; id < places.size(); ++id) {
    const draw::Box b = box(places[id].kept_rows, places[id].kept_cols);
    canvas.frame(b, {40, 40, 40});
    const draw::Colour ink = draw::ink_on(draw::rank_colour(owner[id]));
    canvas.text(b.left + 5, b.top + 5, c10::str("#", id), ink, 2);
    canvas.text(b.left + 5, b.top + 24, c10::str("rank ", owner[id]), ink);
  }
  write_picture(path, canvas.pixels());
}

std::string grid_text(const vae::RunPlan& plan) {
  if (plan.mode == Mode::kTile)
    return c10::str(plan.grid.rows.size(), "x", plan.grid.cols.size(), " tiles (rows x columns)");
  if (plan.mode == Mode::kPatch)
    return c10::str(plan.patches.grid_rows, "x", plan.patches.grid_cols, " patches");
  return c10::str(plan.workloads.size(), plan.workloads.size() == 1 ? " picture" : " pictures",
                  ", whole");
}

void print_text(const vae::RunPlan& plan, const Size& size, int64_t unit) {
  std::cout << "mode " << vae::name_of(plan.mode) << ": " << plan.why << "\n"
            << grid_text(plan) << ", " << number(plan.arithmetic, 2)
            << " x the arithmetic of doing it whole, " << plan.workers << " at once a rank, "
            << plan.threads_per_task << (plan.threads_per_task == 1 ? " thread" : " threads")
            << " each\npredicted peak " << bytes_text(plan.peak_bytes) << " a process, of it "
            << bytes_text(plan.task_bytes) << " the activations of one task\n\n";
  std::vector<std::vector<std::string>> rows{{"rank", "tasks", "area", "share", "which"}};
  const auto load = loads(plan.workloads, plan.owners);
  double total = 0;
  for (const double l : load) total += l;
  for (size_t r = 0; r < plan.owners.size(); ++r) {
    std::string ids;
    for (const int64_t id : plan.owners[r]) ids += (ids.empty() ? "#" : " #") + std::to_string(id);
    if (ids.size() > 60) ids = ids.substr(0, 57) + "...";
    rows.push_back({std::to_string(r), std::to_string(plan.owners[r].size()), number(load[r], 0),
                    number(100 * load[r] / total, 1) + " %", ids.empty() ? "-" : ids});
  }
  std::cout << table(rows) << "\nimbalance (largest over mean) " << number(imbalance(load), 3)
            << "\n\n";
  if (plan.mode == Mode::kNone) return;
  const auto owner = owner_of_each(plan);
  const auto places = places_of(plan, size, unit);
  std::vector<std::vector<std::string>> tasks{{"task", "rank", "x", "y", "width", "height"}};
  for (size_t id = 0; id < places.size(); ++id)
    tasks.push_back({c10::str("#", id), std::to_string(owner[id]),
                     std::to_string(places[id].cols.begin), std::to_string(places[id].rows.begin),
                     std::to_string(places[id].cols.size()),
                     std::to_string(places[id].rows.size())});
  std::cout << table(tasks);
}

json full_json(const vae::RunPlan& plan, const Size& size, int64_t unit) {
  json j = plan_json(plan);
  j["width"] = size.width;
  j["height"] = size.height;
  j["workloads"] = plan.workloads;
  j["loads"] = loads(plan.workloads, plan.owners);
  json places = json::array();
  for (const Place& p : places_of(plan, size, unit))
    places.push_back({{"x", p.cols.begin},
                      {"y", p.rows.begin},
                      {"width", p.cols.size()},
                      {"height", p.rows.size()}});
  j["places"] = places;
  j["notes"] = plan.notes;
  return j;
}

}  // namespace

int vae_plan(const PlanArgs& args) {
  const Size size = size_of(args.size);
  if (!args.out.empty()) check_picture_output(args.out, {});
  std::vector<std::string> notes;
  const vae::KlConfig config = vae::find_kl_config(args.model, &notes);
  const vae::RunPlan plan =
      vae::plan_run(config, input_of(args, config, size), run_options(args.common, args.vae));
  say_all(args.common, notes);
  say_all(args.common, plan.notes);
  const int64_t unit = args.encode ? 1 : config.ratio();
  if (!args.out.empty()) draw_plan(args.out, plan, size, unit);
  if (args.common.json)
    std::cout << full_json(plan, size, unit).dump(1) << std::endl;
  else
    print_text(plan, size, unit);
  return 0;
}

}  // namespace intarsia::app
