#include <intarsia/vision.h>

#include <algorithm>
#include <numeric>

#include "check.h"

namespace intarsia::vision {
namespace {

/// Splitting an item over ranks pays from this many patches a rank on.
constexpr int64_t kLeastSplit = 256;

/// Items so large that one rank would run them longer than all others have work.
std::vector<int64_t> to_split(const std::vector<PackItem>& items, const std::vector<double>& costs,
                              int64_t dp, EncodeOptions::Split split) {
  std::vector<int64_t> chosen;
  if (dp == 1 || split == EncodeOptions::Split::kNever) return chosen;
  const double fair = std::accumulate(costs.begin(), costs.end(), 0.0) / double(dp);
  for (size_t i = 0; i < items.size(); ++i) {
    const bool large = items[i].patches() >= dp * kLeastSplit && costs[i] > 1.1 * fair;
    if (split == EncodeOptions::Split::kAlways || large) chosen.push_back(int64_t(i));
  }
  return chosen;
}

EncodePlan plan_items(const VisionConfig& config, const std::vector<PackItem>& items, int64_t dp,
                      EncodeOptions::Split split) {
  EncodePlan plan;
  const Cost cost = flops(config);
  std::vector<double> costs;
  for (const PackItem& item : items) costs.push_back(cost.of(item));
  plan.split = to_split(items, costs, dp, split);
  std::vector<double> alone = costs;
  for (const int64_t i : plan.split) alone[i] = 0;
  plan.owners = balance(alone, dp);
  plan.loads = loads(alone, plan.owners);
  for (auto& mine : plan.owners) {
    std::erase_if(mine, [&](int64_t i) {
      return std::find(plan.split.begin(), plan.split.end(), i) != plan.split.end();
    });
    std::sort(mine.begin(), mine.end());
  }
  for (const int64_t i : plan.split)
    for (double& load : plan.loads) load += costs[i] / double(dp);
  return plan;
}

EncodePlan plan_blocks(const VisionConfig& config, const std::vector<PackItem>& items, int64_t dp,
                       const EncodeOptions& options) {
  const int64_t size = options.block_size;
  check(size % config.cell() == 0, "blocks of ", size, " patches do not divide by the ",
        config.cell(), " patches of an output row; use a multiple of ", config.cell());
  int64_t patches = 0;
  for (const PackItem& item : items) patches += item.patches();
  auto buckets = options.buckets;
  if (buckets.empty()) {  // one more doubling than the patches ask for: packing may need it
    buckets = automatic_buckets(size, std::max<int64_t>(1, patches));
    buckets.push_back(buckets.back() * 2);
  }
  BucketChoice choice = choose_bucket(buckets, items, size, dp);
  const Cost cost = flops(config);
  EncodePlan plan;
  plan.bucket = choice.bucket;
  plan.packing = renumber(choice.packing, deal_blocks(choice.packing, items, dp, cost));
  const int64_t each = plan.packing.blocks / dp;
  plan.owners.resize(dp);
  for (int64_t b = 0; b < plan.packing.blocks; ++b) plan.owners[b / each].push_back(b);
  plan.loads.assign(dp, 0);
  for (const Piece& p : plan.packing.pieces)
    plan.loads[p.block / each] += cost.of({p.frames, items[p.item].frame_patches});
  return plan;
}

}  // namespace

std::vector<PackItem> pack_items(std::span<const Grid> grids) {
  std::vector<PackItem> items;
  for (const Grid& g : grids) items.push_back({g.t, g.h * g.w});
  return items;
}

EncodePlan plan_encode(const VisionConfig& config, std::span<const Grid> grids, int64_t dp,
                       const EncodeOptions& options) {
  check(dp >= 1, "dp is ", dp, "; use 1 or more");
  check(options.block_size >= 0, "blocks of ", options.block_size,
        " patches; use 0 (no blocks) or more");
  const auto items = pack_items(grids);
  return options.block_size == 0 ? plan_items(config, items, dp, options.split)
                                 : plan_blocks(config, items, dp, options);
}

}  // namespace intarsia::vision
