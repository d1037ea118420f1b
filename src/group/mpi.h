#pragma once
#include <memory>
#include <string>

#include "group/transport.h"

/// MPI, or that there is none: mpi.cc or no_mpi.cc.
namespace intarsia::mpi {

bool available();

struct Joined {
  std::shared_ptr<Transport> world;
  int core_sharers = 1;  ///< ranks of this host, this one too, that may run on the same cores
};

/// Starts MPI on the first call, and a run on each. Every rank of the job must call it.
Joined join(Transport::Settings settings);

/// This rank's part of the run is done: waits, however long, until all have said so. Throws
/// CommError if one has failed.
void finish();

/// Tells the peers why this rank leaves the run. Never throws.
void leave(const std::string& message) noexcept;

/// Ends the process after leave(), once the peers have been told. Returns if the last run was
/// finished, or none was joined: then MPI is ended as usual when the process exits.
void abandon(int exit_code);

}  // namespace intarsia::mpi
