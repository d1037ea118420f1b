#include <intarsia/packing.h>

#include "check.h"

namespace intarsia {

TpDp resolve_tp_dp(std::optional<int64_t> tp, std::optional<int64_t> dp, int64_t world) {
  check(world >= 1, "a world of ", world, " ranks; it has 1 or more");
  check(!tp || *tp >= 1, "tp is ", tp.value_or(0), "; use 1 or more");
  check(!dp || *dp >= 1, "dp is ", dp.value_or(0), "; use 1 or more");
  if (tp && dp) {
    check(*tp <= world && *dp == world / *tp && world % *tp == 0, "tp ", *tp, " times dp ", *dp,
          " is not the ", world, " ranks there are; leave one of them out");
    return {*tp, *dp};
  }
  if (!tp && !dp) return {1, world};
  const int64_t given = tp ? *tp : *dp;
  check(world % given == 0, world, " ranks do not divide by ", tp ? "tp " : "dp ", given,
        "; use one of its divisors");
  return tp ? TpDp{given, world / given} : TpDp{world / given, given};
}

SplitGroups split_groups(int64_t world, int64_t tp, int64_t dp) {
  check(world >= 1 && tp >= 1 && dp >= 1 && world % tp == 0, "a world of ", world,
        " ranks is not made of groups of tp ", tp);
  const int64_t replicas = world / tp;
  check(replicas % dp == 0, world, " ranks give ", replicas, " copies of the weights at tp ", tp,
        ", which do not divide by dp ", dp);
  SplitGroups groups;
  for (int64_t i = 0; i < replicas; ++i) {
    groups.rows.emplace_back();
    for (int64_t k = 0; k < tp; ++k) groups.rows.back().push_back(i * tp + k);
  }
  for (int64_t super = 0; dp > 1 && super < replicas / dp; ++super)
    for (int64_t p = 0; p < tp; ++p) {
      groups.columns.emplace_back();
      for (int64_t d = 0; d < dp; ++d) groups.columns.back().push_back((super * dp + d) * tp + p);
    }
  return groups;
}

}  // namespace intarsia
