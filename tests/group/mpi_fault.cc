// A run in which one rank fails in a way of choice; follows the exit codes of the command.
// usage: mpirun -np N mpi_fault HOW TIMEOUT_MS
#include <intarsia/error.h>
#include <intarsia/launch.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "aten.h"

using intarsia::Group;

namespace {

constexpr int kGuilty = 1;

void rest() { std::this_thread::sleep_for(std::chrono::seconds(20)); }

/// What the guilty rank does in the middle of the run; true: it leaves the run as if all were well.
bool misbehave(Group& group, const std::string& how) {
  if (how == "throws" || how == "unheard") throw std::runtime_error("the disk is full");
  if (how == "refuses") throw std::invalid_argument("tile 0 is not in 1..4");
  if (how == "exits") ::_exit(7);
  if (how == "killed") ::raise(SIGKILL);
  if (how == "sleeps") rest();
  if (how == "differs") group.all_reduce(at::ones({3}));
  if (how == "silent") {  // late into a wait of its own, so that the peers' timeouts end first
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    group.recv(0, 4);
  }
  if (how == "terminated") ::raise(SIGTERM);
  return how == "leaves";
}

void run(Group& group, const std::string& how) {
  for (int i = 0;; ++i) {  // without end: only the failure ends it
    if (i == 20 && group.rank() == kGuilty && misbehave(group, how)) return;
    if (i == 20 && group.rank() == 0 && how == "unheard") rest();
    group.all_reduce(at::ones({i % 2 ? 4 : 300000}));
    if (how == "well" && i == 40) return;
  }
}

int told(const std::string& what, int code) {
  std::cerr << what + "\n" << std::flush;
  return code;
}

int guarded(const std::string& how, int timeout) {
  try {
    intarsia::launch::run_mpi([&](Group& group) { run(group, how); },
                              {.timeout = std::chrono::milliseconds(timeout)});
    return 0;
  } catch (const intarsia::CommError& error) {
    return told(error.what(), 3);
  } catch (const std::invalid_argument& error) {
    return told(error.what(), 2);
  } catch (const std::exception& error) {
    return told(error.what(), 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return told("usage: mpi_fault HOW TIMEOUT_MS", 2);
  const int code = guarded(argv[1], std::atoi(argv[2]));
  if (code != 0) intarsia::launch::abandon(code);
  return code;
}
