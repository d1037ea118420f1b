#pragma once
#include <memory>
#include <vector>

#include "group/mpi_world.h"
#include "group/transport.h"

namespace intarsia::mpi {

/// The group of all ranks of the run that `world` is in.
std::shared_ptr<Transport> join_world(World& world, std::vector<int> ranks, int rank,
                                      Transport::Settings settings);

}  // namespace intarsia::mpi
