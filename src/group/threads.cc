#include "group/threads.h"

#include <intarsia/launch.h>

#include <cstring>

#include "group/thread_hub.h"

namespace intarsia {

ThreadWorld::ThreadWorld(int size) : size_(size), spins_(size <= launch::cores()), ended_(size) {}

void ThreadWorld::fail(int rank, const std::string& message) {
  {
    std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = Failure{rank, without_rank(rank, message)};
    failed_ = true;
  }
  wake_all();
}

std::optional<Failure> ThreadWorld::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void ThreadWorld::end(int rank) {
  ended_[rank] = true;
  wake_all();
}

void ThreadWorld::wake_all() {
  std::vector<std::shared_ptr<ThreadHub>> hubs;
  {
    std::lock_guard lock(mutex_);
    for (auto& [key, hub] : hubs_) {
      if (auto alive = hub.lock()) hubs.push_back(std::move(alive));
    }
  }
  for (auto& hub : hubs) hub->wake();
}

std::shared_ptr<ThreadHub> ThreadWorld::hub(const std::vector<int>& ranks, int64_t context) {
  std::lock_guard lock(mutex_);
  std::erase_if(hubs_, [](const auto& entry) { return entry.second.expired(); });
  auto& place = hubs_[{context, ranks[0]}];
  auto hub = place.lock();
  if (!hub) place = hub = std::make_shared<ThreadHub>(ranks, spins_);
  return hub;
}

namespace {

class Threads : public Transport {
 public:
  Threads(std::shared_ptr<ThreadWorld> world, std::vector<int> world_ranks, int rank,
          int64_t context, Settings settings)
      : Transport(std::move(world_ranks), rank, settings),
        world_(std::move(world)),
        hub_(world_->hub(world_ranks_, context)) {}

  int local_size() const override { return size(); }
  int process_size() const override { return size(); }

  std::vector<Header> meet(std::vector<Offer> offers, bool want_headers) override {
    bool stopped = false;
    const int64_t round = ++round_;
    mine_ = offers[rank_].header;
    hub_->gate.change([&] {
      stopped = world_->failed() || !absent(round, true).empty();
      if (!stopped) arrive(round, std::move(offers));
    });
    if (stopped || !wait_complete(round)) give_up(round);
    reading_ = true;
    return want_headers ? shown() : std::vector<Header>();
  }

  std::vector<const void*> fetch(const std::vector<Room>& rooms) override {
    std::vector<const void*> places;
    for (int r = 0; r < size(); ++r) {
      const Offer& offer = offered_by(r);
      if (offer.bytes != rooms[r].bytes) {
        fail(c10::str("rank ", world_rank(r), " offers ", offer.bytes, " bytes, not ",
                      rooms[r].bytes, ", with ", describe(offer.header)));
      }
      const bool copy = rooms[r].to && rooms[r].to != offer.data && offer.bytes > 0;
      if (copy) std::memcpy(rooms[r].to, offer.data, offer.bytes);
      places.push_back(rooms[r].to ? rooms[r].to : offer.data);
    }
    return places;
  }

  void release(std::vector<at::Tensor>) noexcept override {
    if (!reading_) return;
    reading_ = false;
    const int64_t turn = ++released_;
    hub_->gate.change([&] {
      if (++hub_->departures < size()) return;
      hub_->departures = 0;
      hub_->released = turn;
    });
    // Peers only copy or add now, so this wait ends by itself.
    const auto all_left = [&] { return hub_->released >= turn; };
    if (!hub_->spins || !spin(all_left)) hub_->gate.wait(all_left);
  }

  void send(const at::Tensor& x, int to, int64_t tag) override {
    if (world_->failed()) fail_as_the_world();
    auto& inbox = hub_->inboxes[to];
    inbox.gate.change([&] { inbox.messages[{rank_, tag}].push_back(x); });
  }

  at::Tensor recv(int from, int64_t tag) override {
    auto& inbox = hub_->inboxes[rank_];
    const auto find = [&] { return inbox.messages.find({from, tag}); };
    const auto come = [&] { return find() != inbox.messages.end(); };
    const auto hopeless = [&] {
      return world_->failed() || world_->ended(world_rank(from)) || from == rank_;
    };
    if (!inbox.gate.wait(deadline_in(settings_.timeout), come, hopeless)) give_up_recv(from, tag);
    return inbox.gate.locked([&] {
      auto place = find();
      at::Tensor x = std::move(place->second.front());
      place->second.pop_front();
      if (place->second.empty()) inbox.messages.erase(place);
      return x;
    });
  }

  std::shared_ptr<Transport> child(const std::vector<int>& members, int64_t context) override {
    std::vector<int> ranks;
    int rank = 0;
    for (int member : members) {
      if (member == rank_) rank = static_cast<int>(ranks.size());
      ranks.push_back(world_rank(member));
    }
    auto group = std::make_shared<Threads>(world_, std::move(ranks), rank, context, settings_);
    group->next_context = next_context;
    return group;
  }

 private:
  /// Under the gate: who has not come to this round; `for_good`: nor ever will.
  std::vector<int> absent(int64_t round, bool for_good) const {
    std::vector<int> ranks;
    for (int r = 0; r < size(); ++r) {
      const bool missing = r != rank_ && hub_->met[r] < round;
      if (missing && (!for_good || world_->ended(world_rank(r)))) ranks.push_back(world_rank(r));
    }
    return ranks;
  }

  /// Under the gate.
  void arrive(int64_t round, std::vector<Offer> offers) {
    hub_->slots[round % 2][rank_] = std::move(offers);
    hub_->met[rank_] = round;
    if (++hub_->arrivals < size()) return;
    hub_->arrivals = 0;
    hub_->complete = round;
  }

  bool wait_complete(int64_t round) {
    const auto complete = [&] { return hub_->complete >= round; };
    if (hub_->spins && spin(complete)) return true;
    const auto hopeless = [&] { return world_->failed() || !absent(round, true).empty(); };
    return hub_->gate.wait(deadline_in(settings_.timeout), complete, hopeless);
  }

  /// Fails the world, unless the round has completed meanwhile.
  void give_up(int64_t round) {
    if (!world_->failed()) {
      const auto ended = hub_->gate.locked([&] { return absent(round, true); });
      const auto late = hub_->gate.locked([&] { return absent(round, false); });
      declare(ended.empty() ? did_not_come(late, mine_, settings_.timeout)
                            : will_not_come(ended, mine_));
    }
    if (!hub_->gate.locked([&] { return hub_->complete >= round; })) fail_as_the_world();
  }

  [[noreturn]] void give_up_recv(int from, int64_t tag) {
    if (from == rank_) fail(sent_itself_nothing(world_rank(from), tag));
    const bool ended = world_->ended(world_rank(from));
    if (!world_->failed()) declare(no_message(world_rank(from), tag, ended, settings_.timeout));
    fail_as_the_world();
  }

  void declare(const std::string& what) {
    world_->fail(world_rank(rank_), c10::str(operation, ": ", what));
  }

  [[noreturn]] void fail_as_the_world() const { fail_as(*world_->failure()); }

  const Offer& offered_by(int rank) const { return hub_->slots[round_ % 2][rank][rank_]; }

  std::vector<Header> shown() const {
    std::vector<Header> headers;
    for (int r = 0; r < size(); ++r) headers.push_back(offered_by(r).header);
    return headers;
  }

  std::shared_ptr<ThreadWorld> world_;
  std::shared_ptr<ThreadHub> hub_;
  int64_t round_ = 0, released_ = 0;
  Header mine_;           // of the last round
  bool reading_ = false;  // a round of this collective is complete: peers may read
};

}  // namespace

std::shared_ptr<Transport> join_threads(const std::shared_ptr<ThreadWorld>& world, int rank,
                                        Transport::Settings settings) {
  std::vector<int> ranks(world->size());
  for (int r = 0; r < world->size(); ++r) ranks[r] = r;
  return std::make_shared<Threads>(world, std::move(ranks), rank, 0, settings);
}

}  // namespace intarsia
