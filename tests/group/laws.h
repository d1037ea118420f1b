#pragma once

#include <functional>
#include <string>
#include <vector>

#include "group/transport.h"

namespace intarsia::test {

/// What every backend must hold, for every number of ranks. Each runs on all ranks and reports by
/// EXPECT_*; threads and MPI run the same list.
struct Law {
  std::string name;
  std::function<void(Group&)> hold;
};

const std::vector<Law>& laws();

/// The same for what collectives are made of; each wants a transport of its own.
struct RawLaw {
  std::string name;
  std::function<void(Transport&)> hold;
};

const std::vector<RawLaw>& raw_laws();

}  // namespace intarsia::test
