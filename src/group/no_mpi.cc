#include "check.h"
#include "group/mpi.h"

namespace intarsia::mpi {

bool available() { return false; }

Joined join(Transport::Settings) {
  check(false, "launch: this build has no MPI; install libopenmpi-dev and build again");
  return {};
}

void finish() {}
void leave(const std::string&) noexcept {}
void abandon(int) {}

}  // namespace intarsia::mpi
