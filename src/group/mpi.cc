#include "group/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <thread>

#include "check.h"
#include "group/mpi_group.h"

namespace intarsia::mpi {
namespace {

/// Receives the messages that nobody has asked for, so that their senders can end.
void drop_messages(World& world) {
  Requests requests;
  std::vector<at::Tensor> held;
  for (auto& [key, waiting] : world.messages) {
    for (const Arrived& message : waiting) {
      const Frame& frame = message.frame;
      if (frame.bulk_tag == 0 || frame.run != world.run()) continue;
      held.push_back(at::empty({frame.bytes}, at::kByte));
      world.wire().receive_bulk(message.from, frame.bulk_tag, held.back().mutable_data_ptr(),
                                frame.bytes, requests);
    }
  }
  world.wire().keep(std::move(requests), std::move(held));
}

[[noreturn]] void throw_failure(const World& world) {
  const Failure failure = *world.failure();
  const bool own = failure.rank == world.wire().rank();
  throw CommError(
      world.wire().rank(), "finish",
      own ? failure.message : c10::str("rank ", failure.rank, " failed: ", failure.message));
}

void flush_sends(World& world, std::chrono::milliseconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (world.wire().pending() > 0 && std::chrono::steady_clock::now() < deadline) {
    world.poll();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

bool available() { return true; }

Joined join(Transport::Settings settings) {
  World& world = World::get();
  check(!world.running(), "launch: run_mpi was called inside of run_mpi; use Group::split");
  world.begin();
  std::vector<int> ranks(world.wire().size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const int rank = world.wire().rank();
  return {join_world(world, std::move(ranks), rank, settings), world.wire().core_sharers()};
}

void finish() {
  World& world = World::get();
  world.poll();
  if (world.failed()) throw_failure(world);
  world.say_done();
  const auto all_done = [&] {
    for (int r = 0; r < world.wire().size(); ++r) {
      if (!world.ended(r)) return false;
    }
    return true;
  };
  if (!world.wait(std::nullopt, all_done)) throw_failure(world);
  drop_messages(world);
  if (!world.wait(std::nullopt, [&] { return world.wire().pending() == 0; })) throw_failure(world);
  world.end(true);
}

void leave(const std::string& message) noexcept {
  if (!World::exists()) return;
  World& world = World::get();
  if (!world.running()) return;
  try {
    world.fail(message);
    flush_sends(world, std::chrono::milliseconds(100));
  } catch (const std::exception& error) {  // MPI itself is broken
    std::cerr << "intarsia: the peers could not be told: " + std::string(error.what()) + "\n";
  }
  world.end(false);
}

void abandon(int exit_code) {
  if (!World::exists()) return;
  World& world = World::get();
  if (world.clean()) return;
  leave("has left the run");
  const bool own = world.failure() && world.failure()->rank == world.wire().rank();
  // Peers shall read of the failure before the launcher ends them, and the job's exit code shall
  // be that of the rank that failed: the others go later.
  std::this_thread::sleep_for(std::chrono::milliseconds(own ? 100 : 600));
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

}  // namespace intarsia::mpi
