#pragma once
#include <intarsia/group.h>

#include <functional>
#include <string>
#include <vector>

namespace intarsia::test {

/// What every backend must hold, for every number of ranks. Each runs on all ranks and reports by
/// EXPECT_*; threads and MPI run the same list.
struct Law {
  std::string name;
  std::function<void(Group&)> hold;
};

const std::vector<Law>& laws();

}  // namespace intarsia::test
