#include "group/mpi_world.h"

#include <intarsia/launch.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

#include "group/gate.h"

namespace intarsia::mpi {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t terminated = 0;
struct sigaction before_us;

/// mpirun and srun announce the end of a job so, a second or more before they kill.
void on_sigterm(int number) {
  terminated = 1;
  const auto handler = before_us.sa_handler;
  if (!(before_us.sa_flags & SA_SIGINFO) && handler != SIG_DFL && handler != SIG_IGN) {
    handler(number);
  }
}

void listen_to_sigterm() {
  struct sigaction action {};
  action.sa_handler = on_sigterm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &before_us);
}

/// Looks often at first; then sleeps, longer each time, so that peers get the core.
class Backoff {
 public:
  explicit Backoff(bool spins) : looks_(spins ? Clock::now() + kSpin : Clock::time_point()) {}

  void pause(Clock::time_point now) {
    if (now < looks_) return pause_core();
    if (yields_-- > 0) return void(sched_yield());
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(2 * nap_, kLongestNap);
  }

 private:
  static constexpr auto kSpin = std::chrono::microseconds(50);
  static constexpr auto kLongestNap = std::chrono::microseconds(100);

  Clock::time_point looks_;
  int yields_ = 20;
  std::chrono::microseconds nap_{1};
};

World* the_world = nullptr;

}  // namespace

World& World::get() {
  Wire& wire = Wire::get();
  if (!the_world) the_world = new World(wire);
  return *the_world;
}

bool World::exists() { return the_world != nullptr; }

World::World(Wire& wire)
    : wire_(wire), spins_(wire.core_sharers() <= launch::cores()), done_(wire.size(), 0) {}

void World::begin() {
  ++run_;
  running_ = true;
  clean_ = false;
  terminated = 0;
  const auto old = [&](const auto& entry) { return run_of(std::get<0>(entry.first)) < run_; };
  std::erase_if(meets, old);
  std::erase_if(messages, old);
  std::erase_if(failures_, [&](const auto& entry) { return entry.first < run_; });
  listen_to_sigterm();
}

void World::end(bool cleanly) {
  running_ = false;
  clean_ = cleanly;
  wire_.finalize_at_exit(cleanly);
  sigaction(SIGTERM, &before_us, nullptr);
}

std::optional<Failure> World::failure() const {
  const auto place = failures_.find(run_);
  return place == failures_.end() ? std::nullopt : std::optional(place->second);
}

void World::fail(const std::string& message) {
  if (failed()) return;
  const std::string text = without_rank(wire_.rank(), message).substr(0, kInsideBytes);
  failures_.emplace(run_, Failure{wire_.rank(), text});
  const Frame frame{
      .kind = Kind::kFailed, .run = run_, .bytes = static_cast<int64_t>(text.size()), .header = {}};
  for (int r = 0; r < wire_.size(); ++r) {
    if (r != wire_.rank()) wire_.send_frame(r, frame, text.data());
  }
}

void World::say_done() {
  done_[wire_.rank()] = run_;
  const Frame frame{.kind = Kind::kDone, .run = run_, .header = {}};
  for (int r = 0; r < wire_.size(); ++r) {
    if (r != wire_.rank()) wire_.send_frame(r, frame, nullptr);
  }
}

void World::poll() {
  wire_.poll([this](Arrived arrived) { take(std::move(arrived)); });
  if (terminated && running_) fail("the launcher is ending this job (SIGTERM)");
}

void World::take(Arrived arrived) {
  const Frame& frame = arrived.frame;
  if (frame.run < run_) return;
  const Key key{frame.context, frame.number, arrived.from};
  switch (frame.kind) {
    case Kind::kMeet:
      meets.insert_or_assign(key, std::move(arrived));
      break;
    case Kind::kMessage:
      messages[key].push_back(std::move(arrived));
      break;
    case Kind::kFailed: {
      const auto* text = reinterpret_cast<const char*>(arrived.inside.data());
      failures_.emplace(frame.run, Failure{arrived.from, {text, arrived.inside.size()}});
      break;
    }
    case Kind::kDone:
      done_[arrived.from] = frame.run;
      break;
  }
}

bool World::wait(std::optional<Clock::time_point> deadline, const Fact& done, const Fact& stop) {
  Backoff backoff(spins_);
  while (true) {
    const auto now = Clock::now();  // before the look: a late look still counts
    poll();
    if (done()) return true;
    if (failed() || stop() || (deadline && now >= *deadline)) return false;
    backoff.pause(now);
  }
}

}  // namespace intarsia::mpi
