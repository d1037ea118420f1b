#include <intarsia/group.h>

#include <algorithm>
#include <numeric>

#include "check.h"
#include "group/reduce.h"
#include "group/round.h"

namespace intarsia {
namespace {

// Below this, every rank sums everything by itself: one step less than summing slices.
constexpr int64_t kWholeBytes = 32 * 1024;

void check_tensor(const char* op, const at::Tensor& x) {
  check(x.defined(), op, ": the tensor is undefined; bring a tensor on every rank");
  check(x.layout() == at::kStrided && !x.is_quantized() && !x.is_meta(), op, ": a ", x.layout(),
        x.is_quantized() ? ", quantized" : "", x.is_meta() ? ", meta" : "",
        " tensor has no plain bytes to send; use a strided tensor with data");
  check(x.dim() <= Header::kMaxDims, op, ": ", x.dim(), " axes are more than the ",
        Header::kMaxDims, " that travel; reshape to fewer");
}

void check_root(const char* op, int root, int size) {
  check(root >= 0 && root < size, op, ": root ", root, " is not in 0..", size - 1);
}

at::Tensor resolved(const at::Tensor& x) {
  return x.detach().resolve_conj().resolve_neg().contiguous();
}

/// The same values as plain bytes on the CPU.
at::Tensor staged(const at::Tensor& x) { return resolved(x.to(at::kCPU)); }

/// A collective in a group of one.
at::Tensor identity(Transport& transport, const at::Tensor& x) {
  ++transport.stats.collectives;
  return resolved(x);
}

/// The elements that rank r sums.
struct Slice {
  int64_t start, count;
};

Slice slice_of(const at::Tensor& x, int rank, int size) {
  const int64_t share = ((x.numel() + size - 1) / size + 63) / 64 * 64;  // whole cache lines
  const int64_t start = std::min(x.numel(), share * rank);
  return {start, std::min(share, x.numel() - start)};
}

std::byte* at_element(const at::Tensor& x, int64_t element) {
  return static_cast<std::byte*>(x.mutable_data_ptr()) + element * x.itemsize();
}

at::Tensor reduce_whole(Round& round, const at::Tensor& x, Reduce op) {
  round.meet(round.offer_all(x), false);
  const auto parts = round.fetch(std::vector<Room>(round.size(), {nullptr, int64_t(x.nbytes())}));
  at::Tensor sum = at::empty_like(x);
  reduce(x.scalar_type(), op, parts, sum.mutable_data_ptr(), x.numel());
  return sum;
}

/// Each rank sums one slice, then all gather the sums.
at::Tensor reduce_slices(Round& round, const at::Tensor& x, Reduce op) {
  const int n = round.size();
  const auto bytes = [&](int r) { return slice_of(x, r, n).count * int64_t(x.itemsize()); };
  auto offers = round.offer_all(x);
  for (int r = 0; r < n; ++r) {
    offers[r].data = at_element(x, slice_of(x, r, n).start);
    offers[r].bytes = bytes(r);
  }
  round.meet(std::move(offers), false);
  const auto parts = round.fetch(std::vector<Room>(n, {nullptr, bytes(round.rank())}));

  at::Tensor sum = at::empty_like(x);
  round.hold(sum);
  const Slice mine = slice_of(x, round.rank(), n);
  reduce(x.scalar_type(), op, parts, at_element(sum, mine.start), mine.count);
  round.meet_again(std::vector<Offer>(
      n, Offer{round.header(), at_element(sum, mine.start), bytes(round.rank())}));
  std::vector<Room> rooms(n);
  for (int r = 0; r < n; ++r) rooms[r] = {at_element(sum, slice_of(x, r, n).start), bytes(r)};
  round.fetch(rooms);
  return sum;
}

struct Extents {
  std::vector<int64_t> shape;   // of the whole
  std::vector<int64_t> starts;  // of each rank along dim
};

Extents join_extents(const std::vector<Header>& headers, const at::Tensor& x, int64_t dim) {
  Extents extents{x.sizes().vec(), {}};
  int64_t total = 0;
  for (const Header& header : headers) {
    extents.starts.push_back(total);
    total += header.sizes[dim];
  }
  extents.shape[dim] = total;
  return extents;
}

at::Tensor gather_along(Round& round, const at::Tensor& x, int64_t dim) {
  const auto headers = round.meet(round.offer_all(x), true);
  const Extents extents = join_extents(headers, x, dim);
  at::Tensor whole = at::empty(extents.shape, x.options());
  round.hold(whole);
  const int64_t outer = c10::multiply_integers(x.sizes().slice(0, dim));
  const int64_t inner = c10::multiply_integers(x.sizes().slice(dim + 1));
  const auto elements = [&](int64_t extent) { return outer * extent * inner; };

  std::vector<Room> rooms(round.size());
  for (int r = 0; r < round.size(); ++r) {  // one row: parts lie one after the other in the whole
    rooms[r] = {outer == 1 ? at_element(whole, extents.starts[r] * inner) : nullptr,
                elements(headers[r].sizes[dim]) * int64_t(x.itemsize())};
  }
  const auto parts = round.fetch(rooms);
  for (int r = 0; outer > 1 && r < round.size(); ++r) {
    auto shape = x.sizes().vec();
    shape[dim] = headers[r].sizes[dim];
    auto part = at::from_blob(const_cast<void*>(parts[r]), shape, x.options());
    whole.narrow(dim, extents.starts[r], shape[dim]).copy_(part);
  }
  return whole;
}

}  // namespace

Group::Group(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

int Group::rank() const { return transport_->rank(); }
int Group::size() const { return transport_->size(); }
int Group::local_size() const { return transport_->local_size(); }
int Group::process_size() const { return transport_->process_size(); }
GroupStats Group::stats() const { return transport_->stats; }
std::chrono::milliseconds Group::timeout() const { return transport_->settings().timeout; }

at::Tensor Group::all_reduce(const at::Tensor& x, Reduce op) const {
  check_tensor("all_reduce", x);
  check(can_reduce(x.scalar_type(), op), "all_reduce: ", dtype_name(x.scalar_type()), " has no ",
        op == Reduce::kSum ? "sum; convert to float32 first" : "maximum; use its real view");
  if (size() == 1) return identity(*transport_, x);
  const at::Tensor mine = staged(x);
  Round round(*transport_, Op::kAllReduce, static_cast<int64_t>(op), mine);
  const bool small = int64_t(mine.nbytes()) <= kWholeBytes;
  return (small ? reduce_whole(round, mine, op) : reduce_slices(round, mine, op)).to(x.device());
}

at::Tensor Group::all_gather(const at::Tensor& x, int64_t dim) const {
  check_tensor("all_gather", x);
  const int64_t dims = std::max<int64_t>(x.dim(), 1);
  check(dim >= -dims && dim < dims, "all_gather: dim ", dim, " is not in ", -dims, "..", dims - 1,
        " of a tensor ", x.sizes());
  const at::Tensor rows = x.dim() == 0 ? x.view({1}) : x;  // a number is one row
  if (size() == 1) return identity(*transport_, rows);
  const at::Tensor mine = staged(rows);
  const int64_t axis = dim < 0 ? dim + dims : dim;
  Round round(*transport_, Op::kAllGather, axis, mine);
  return gather_along(round, mine, axis).to(x.device());
}

std::vector<at::Tensor> Group::gather(const at::Tensor& x, int root) const {
  check_tensor("gather", x);
  check_root("gather", root, size());
  if (size() == 1) return {identity(*transport_, x)};
  const at::Tensor mine = staged(x);
  Round round(*transport_, Op::kGather, root, mine);
  auto offers = round.offer_none();
  offers[root] = round.offer_all(mine)[root];
  const auto headers = round.meet(std::move(offers), true);

  std::vector<at::Tensor> all;
  std::vector<Room> rooms(size());
  for (int r = 0; r < size() && rank() == root; ++r) {
    all.push_back(r == root ? mine : round.empty_for(headers[r], r));
    rooms[r] = {all[r].mutable_data_ptr(), int64_t(all[r].nbytes())};
  }
  round.fetch(rooms);
  for (auto& part : all) part = part.to(x.device());
  return all;
}

static std::vector<Offer> offer_parts(Round& round, const std::vector<at::Tensor>& parts) {
  auto offers = round.offer_none();
  for (size_t r = 0; r < parts.size(); ++r) {
    const at::Tensor part = staged(parts[r]);
    round.hold(part);
    offers[r].header.set_tensor(part);
    offers[r].data = part.const_data_ptr();
    offers[r].bytes = static_cast<int64_t>(part.nbytes());
  }
  return offers;
}

at::Tensor Group::scatter(const std::vector<at::Tensor>& parts, int root) const {
  check_root("scatter", root, size());
  const int expected = rank() == root ? size() : 0;
  check(int(parts.size()) == expected, "scatter: rank ", rank(), " brings ", parts.size(),
        " tensors; root ", root, " brings one a rank (", size(), "), all others none");
  for (const auto& part : parts) {
    check_tensor("scatter", part);
    check(part.scalar_type() == parts[0].scalar_type(), "scatter: parts are ",
          dtype_name(parts[0].scalar_type()), " and ", dtype_name(part.scalar_type()),
          "; bring one dtype");
  }
  if (size() == 1) return identity(*transport_, parts[0]);
  Round round(*transport_, Op::kScatter, root, {});
  const auto headers = round.meet(offer_parts(round, parts), true);
  const at::Tensor mine = round.empty_for(headers[root], root);
  std::vector<Room> rooms(size());
  rooms[root] = {mine.mutable_data_ptr(), int64_t(mine.nbytes())};
  round.fetch(rooms);
  return rank() == root ? mine.to(parts[0].device()) : mine;
}

at::Tensor Group::broadcast(const at::Tensor& x, int root) const {
  check_root("broadcast", root, size());
  if (rank() == root || x.defined()) check_tensor("broadcast", x);
  if (size() == 1) return identity(*transport_, x);
  const at::Tensor mine = x.defined() ? staged(x) : x;
  Round round(*transport_, Op::kBroadcast, root, mine);
  const auto headers =
      round.meet(rank() == root ? round.offer_all(mine) : round.offer_none(), true);
  const at::Tensor whole = rank() == root ? mine : round.empty_for(headers[root], root);
  std::vector<Room> rooms(size());
  rooms[root] = {whole.mutable_data_ptr(), int64_t(whole.nbytes())};
  round.fetch(rooms);
  return x.defined() ? whole.to(x.device()) : whole;
}

void Group::barrier() const {
  if (size() == 1) return void(++transport_->stats.collectives);
  Round round(*transport_, Op::kBarrier, 0, {});
  round.meet(round.offer_none(), true);
}

/// Counts the time of a send or recv too.
template <class F>
static auto timed(Transport& transport, const char* operation, F f) {
  const auto start = std::chrono::steady_clock::now();
  transport.operation = operation;
  auto result = f();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  transport.stats.seconds_waiting += spent.count();
  return result;
}

void Group::send(const at::Tensor& x, int to, int64_t tag) const {
  check_tensor("send", x);
  check(to >= 0 && to < size(), "send: rank ", to, " is not in 0..", size() - 1);
  timed(*transport_, "send", [&] {
    const at::Tensor mine = staged(x);
    if (to != rank()) transport_->stats.bytes_sent += static_cast<int64_t>(mine.nbytes());
    transport_->send(mine, to, tag);
    return true;
  });
}

at::Tensor Group::recv(int from, int64_t tag) const {
  check(from >= 0 && from < size(), "recv: rank ", from, " is not in 0..", size() - 1);
  return timed(*transport_, "recv", [&] { return transport_->recv(from, tag); });
}

namespace {

struct Member {
  int64_t key;
  int rank;
  auto operator<=>(const Member&) const = default;
};

/// Everybody's {colour, key, next context}.
std::vector<std::array<int64_t, 3>> exchange_colours(Transport& transport, int64_t colour,
                                                     int64_t key) {
  std::vector<std::array<int64_t, 3>> all(transport.size());
  auto mine = at::empty({3}, at::kLong);
  std::array<int64_t, 3> values{colour, key, *transport.next_context};
  std::copy(values.begin(), values.end(), mine.mutable_data_ptr<int64_t>());
  Round round(transport, Op::kSplit, 0, mine);
  round.meet(round.offer_all(mine), false);
  std::vector<Room> rooms;
  for (auto& values_of : all) rooms.push_back({values_of.data(), sizeof(values_of)});
  round.fetch(rooms);
  return all;
}

}  // namespace

Group Group::split(int64_t colour, int64_t key) const {
  const auto all = exchange_colours(*transport_, colour, key);
  std::vector<Member> members;
  int64_t context = 0;
  for (int r = 0; r < size(); ++r) {
    context = std::max(context, all[r][2]);
    const bool together = colour < 0 ? r == rank() : all[r][0] == colour;
    if (together) members.push_back({all[r][1], r});
  }
  std::sort(members.begin(), members.end());
  std::vector<int> ranks;
  for (const Member& member : members) ranks.push_back(member.rank);
  *transport_->next_context = context + 1;
  return Group(transport_->child(ranks, context));
}

}  // namespace intarsia
