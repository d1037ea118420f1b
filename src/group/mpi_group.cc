#include "group/mpi_group.h"

#include <algorithm>
#include <cstring>
#include <iostream>

namespace intarsia::mpi {
namespace {

/// Note [A round over MPI]: meet() sends each peer one frame with the header, and few bytes inside.
/// Larger payloads follow once all frames have come and agree: every rank sees the same headers, so
/// after a disagreement nobody sends what nobody would receive. From then on a rank takes all that
/// it is offered, at the latest in release().
class Mpi : public Transport {
 public:
  Mpi(World& world, std::vector<int> world_ranks, int rank, int64_t context, Settings settings)
      : Transport(std::move(world_ranks), rank, settings),
        world_(world),
        run_(world.run()),
        context_(context_in(world.run(), context)),
        sends_(world_ranks_.size()),
        bulk_tags_(world_ranks_.size()),
        received_(world_ranks_.size()) {}

  int local_size() const override {
    const auto& hosts = world_.wire().hosts();
    return static_cast<int>(std::count_if(world_ranks_.begin(), world_ranks_.end(), [&](int r) {
      return hosts[r] == hosts[world_rank(rank_)];
    }));
  }

  std::vector<Header> meet(std::vector<Offer> offers, bool) override {
    stop_if_failed();
    ++round_;
    offers_ = std::move(offers);
    for (int r = 0; r < size(); ++r) show(r);
    wait_for_frames();
    met_ = true;
    std::vector<Header> headers;
    for (int r = 0; r < size(); ++r) headers.push_back(take_frame(r));
    const auto agrees = [&](const Header& header) { return agree(headers[0], header); };
    agreed_ = !settings_.checked || std::all_of(headers.begin(), headers.end(), agrees);
    for (int r = 0; agreed_ && r < size(); ++r) send_bulk(r);
    return headers;
  }

  std::vector<const void*> fetch(const std::vector<Room>& rooms) override {
    for (int r = 0; r < size(); ++r) check_bytes(r, rooms[r].bytes);
    std::vector<const void*> places;
    for (int r = 0; r < size(); ++r) places.push_back(bring(r, rooms[r].to));
    wait_for_bulk();
    return places;
  }

  void release(std::vector<at::Tensor> held) noexcept override {
    if (!met_) return;
    met_ = false;
    try {
      end_round();
    } catch (const std::exception& error) {
      tell(error.what());
    }
    bury(std::move(held));
    scratch_.clear();
    kept_.clear();
  }

  void send(const at::Tensor& x, int to, int64_t tag) override {
    stop_if_failed();
    Frame frame = frame_of(Kind::kMessage, tag, static_cast<int64_t>(x.nbytes()));
    frame.header.set_tensor(x);
    if (to == rank_) {
      world_.messages[key_of(rank_, tag)].push_back({world_rank(to), frame, {}, x});
      return;
    }
    const int bulk_tag = world_.wire().send_frame(world_rank(to), frame, x.const_data_ptr());
    if (bulk_tag == 0) return;
    Requests requests;
    world_.wire().send_bulk(world_rank(to), bulk_tag, x.const_data_ptr(), frame.bytes, requests);
    world_.wire().keep(std::move(requests), {x});
  }

  at::Tensor recv(int from, int64_t tag) override {
    stop_if_failed();
    const auto deadline = deadline_in(settings_.timeout);
    const auto place = [&] { return world_.messages.find(key_of(from, tag)); };
    const auto come = [&] { return place() != world_.messages.end(); };
    const auto hopeless = [&] { return from == rank_ || world_.ended(world_rank(from)); };
    if (!world_.wait(deadline, come, hopeless)) give_up_recv(from, tag);
    auto& waiting = place()->second;
    const Arrived message = std::move(waiting.front());
    waiting.pop_front();
    if (waiting.empty()) world_.messages.erase(place());
    return message.own.defined() ? message.own : unpack(message, from);
  }

  std::shared_ptr<Transport> child(const std::vector<int>& members, int64_t context) override {
    std::vector<int> ranks;
    for (int member : members) ranks.push_back(world_rank(member));
    const auto self = std::find(members.begin(), members.end(), rank_);
    const int rank = static_cast<int>(self - members.begin());
    auto group = std::make_shared<Mpi>(world_, std::move(ranks), rank, context, settings_);
    group->next_context = next_context;
    return group;
  }

 private:
  World::Key key_of(int from, int64_t number) const { return {context_, number, world_rank(from)}; }

  Frame frame_of(Kind kind, int64_t number, int64_t bytes) const {
    return {.kind = kind,
            .run = run_,
            .context = context_,
            .number = number,
            .bytes = bytes,
            .header = {}};
  }

  void stop_if_failed() {
    if (!world_.in_run(run_)) fail("the run of this group has ended");
    world_.poll();
    if (world_.failed()) fail_as(*world_.failure());
  }

  void show(int to) {
    if (to == rank_) return;
    const Offer& offer = offers_[to];
    Frame frame = frame_of(Kind::kMeet, round_, offer.bytes);
    frame.header = offer.header;
    bulk_tags_[to] = world_.wire().send_frame(world_rank(to), frame, offer.data);
  }

  bool has_come(int rank) const {
    return rank == rank_ || world_.meets.contains(key_of(rank, round_));
  }

  /// Who has not come to this round; `for_good`: nor ever will.
  std::vector<int> absent(bool for_good) const {
    std::vector<int> ranks;
    for (int r = 0; r < size(); ++r) {
      if (has_come(r) || (for_good && !world_.ended(world_rank(r)))) continue;
      ranks.push_back(world_rank(r));
    }
    return ranks;
  }

  void wait_for_frames() {
    int next = 0;  // all before it have come
    const auto all_here = [&] {
      while (next < size() && has_come(next)) ++next;
      return next == size();
    };
    const auto hopeless = [&] { return !absent(true).empty(); };
    if (world_.wait(deadline_in(settings_.timeout), all_here, hopeless)) return;
    const auto ended = absent(true);
    const Header& mine = offers_[rank_].header;
    fail_world(ended.empty() ? did_not_come(absent(false), mine, settings_.timeout)
                             : will_not_come(ended, mine));
  }

  /// Of the rounds of a collective the bytes stay until its end.
  Header take_frame(int from) {
    kept_.push_back(std::move(received_[from]));
    received_[from] = {};
    if (from == rank_) return offers_[rank_].header;
    received_[from] = std::move(world_.meets.extract(key_of(from, round_)).mapped());
    return received_[from].frame.header;
  }

  void send_bulk(int to) {
    if (to == rank_ || bulk_tags_[to] == 0) return;
    world_.wire().send_bulk(world_rank(to), bulk_tags_[to], offers_[to].data, offers_[to].bytes,
                            sends_[to]);
  }

  void check_bytes(int from, int64_t expected) const {
    const bool own = from == rank_;
    const int64_t bytes = own ? offers_[from].bytes : received_[from].frame.bytes;
    if (bytes == expected) return;
    fail(c10::str("rank ", world_rank(from), " offers ", bytes, " bytes, not ", expected, ", with ",
                  describe(own ? offers_[from].header : received_[from].frame.header)));
  }

  /// Puts what a peer offers to `to`, or anywhere; bulk is on its way then.
  const void* bring(int from, void* to) {
    Arrived& peer = received_[from];
    const bool own = from == rank_;
    if (!own && peer.frame.bulk_tag != 0) {
      if (!to) to = scratch(peer.frame.bytes);
      world_.wire().receive_bulk(world_rank(from), peer.frame.bulk_tag, to, peer.frame.bytes,
                                 receives_);
      peer.frame.bulk_tag = 0;  // taken
      return to;
    }
    const void* data = own ? offers_[rank_].data : peer.inside.data();
    const int64_t bytes = own ? offers_[rank_].bytes : peer.frame.bytes;
    if (to && to != data && bytes > 0) std::memcpy(to, data, bytes);
    return to ? to : data;
  }

  void* scratch(int64_t bytes) {
    scratch_.push_back(at::empty({bytes}, at::kByte));
    return scratch_.back().mutable_data_ptr();
  }

  void wait_for_bulk() {
    if (receives_.empty()) return;
    const auto here = [&] { return world_.wire().test(receives_); };
    if (world_.wait(deadline_in(settings_.timeout), here)) return;
    fail_world(c10::str("not all bytes of ", describe(offers_[rank_].header), " came within ",
                        settings_.timeout.count(), " ms"));
  }

  /// Takes what this rank was offered and has not fetched, and waits until all have its own bytes.
  void end_round() {
    for (int r = 0; agreed_ && r < size(); ++r) drop_bulk(received_[r]);
    const auto taken = [&](Requests& requests) { return world_.wire().test(requests); };
    const auto all_taken = [&] { return std::all_of(sends_.begin(), sends_.end(), taken); };
    if (world_.wait(deadline_in(settings_.timeout), all_taken) || world_.failed()) return;
    std::vector<int> slow;
    for (int r = 0; r < size(); ++r) {
      if (!taken(sends_[r])) slow.push_back(world_rank(r));
    }
    tell(c10::str(operation, ": ", name_ranks(slow), " did not take the bytes of ",
                  describe(offers_[rank_].header), " within ", settings_.timeout.count(), " ms"));
  }

  void drop_bulk(Arrived& peer) {
    if (peer.frame.bulk_tag == 0) return;
    const auto here = [&] { return world_.wire().test(receives_); };
    void* piece = scratch(std::min(kPieceBytes, peer.frame.bytes));
    for (int64_t start = 0; start < peer.frame.bytes; start += kPieceBytes) {
      const int64_t bytes = std::min(kPieceBytes, peer.frame.bytes - start);
      world_.wire().receive_bulk(peer.from, peer.frame.bulk_tag, piece, bytes, receives_);
      if (!world_.wait(deadline_in(settings_.timeout), here)) return;
    }
  }

  /// After a failure MPI may still use the memory of what is not over.
  void bury(std::vector<at::Tensor> held) noexcept {
    Requests open = std::move(receives_);
    receives_.clear();
    for (Requests& requests : sends_) {
      open.insert(open.end(), requests.begin(), requests.end());
      requests.clear();
    }
    if (open.empty()) return;
    held.insert(held.end(), scratch_.begin(), scratch_.end());
    world_.wire().keep(std::move(open), std::move(held));
  }

  at::Tensor unpack(const Arrived& message, int from) {
    at::Tensor x = message.frame.header.empty();
    if (message.frame.bulk_tag == 0) {
      if (x.nbytes() > 0) std::memcpy(x.mutable_data_ptr(), message.inside.data(), x.nbytes());
      return x;
    }
    Requests requests;
    world_.wire().receive_bulk(message.from, message.frame.bulk_tag, x.mutable_data_ptr(),
                               message.frame.bytes, requests);
    const auto here = [&] { return world_.wire().test(requests); };
    if (world_.wait(deadline_in(settings_.timeout), here)) return x;
    world_.wire().keep(std::move(requests), {x});
    fail_world(c10::str("not all bytes of a message of rank ", world_rank(from), " came within ",
                        settings_.timeout.count(), " ms"));
  }

  [[noreturn]] void give_up_recv(int from, int64_t tag) {
    if (from == rank_) fail(sent_itself_nothing(world_rank(from), tag));
    const bool ended = world_.ended(world_rank(from));
    fail_world(no_message(world_rank(from), tag, ended, settings_.timeout));
  }

  /// Tells the world, unless it knows of a failure; throws.
  [[noreturn]] void fail_world(const std::string& what) {
    world_.fail(c10::str(operation, ": ", what));
    fail_as(*world_.failure());
  }

  void tell(const std::string& what) noexcept {
    try {
      world_.fail(what);
    } catch (const std::exception& error) {  // MPI itself is broken
      std::cerr << "intarsia: " + what + "; and " + error.what() + "\n";
    }
  }

  World& world_;
  const int run_;
  const int64_t context_;
  int64_t round_ = 0;
  bool met_ = false, agreed_ = false;
  std::vector<Offer> offers_;
  std::vector<Requests> sends_;  // bulk to each rank
  std::vector<int> bulk_tags_;
  std::vector<Arrived> received_, kept_;  // of this round; of earlier ones of this collective
  Requests receives_;
  std::vector<at::Tensor> scratch_;
};

}  // namespace

std::shared_ptr<Transport> join_world(World& world, std::vector<int> ranks, int rank,
                                      Transport::Settings settings) {
  return std::make_shared<Mpi>(world, std::move(ranks), rank, 0, settings);
}

}  // namespace intarsia::mpi
