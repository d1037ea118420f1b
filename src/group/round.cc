#include "group/round.h"

namespace intarsia {

Round::Round(Transport& transport, Op op, int64_t detail, const at::Tensor& x)
    : transport_(transport) {
  header_.sequence = ++transport.sequence;
  header_.op = op;
  header_.detail = static_cast<int32_t>(detail);
  if (x.defined()) {
    header_.set_tensor(x);
    hold(x);
  }
  transport.operation = op_name(op);
  ++transport.stats.collectives;
}

Round::~Round() {
  transport_.release(std::move(held_));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  transport_.stats.seconds_waiting += spent.count();
}

std::vector<Offer> Round::offer_all(const at::Tensor& x) {
  hold(x);
  return std::vector<Offer>(size(), Offer{header_, x.const_data_ptr(), int64_t(x.nbytes())});
}

std::vector<Offer> Round::offer_none() const { return std::vector<Offer>(size(), Offer{header_}); }

std::vector<Header> Round::meet(std::vector<Offer> offers, bool want_headers) {
  count(offers);
  const bool checked = transport_.settings().checked;
  auto headers = transport_.meet(std::move(offers), want_headers || checked);
  if (checked) compare(headers);
  return headers;
}

void Round::meet_again(std::vector<Offer> offers) {
  count(offers);
  const bool checked = transport_.settings().checked;
  const auto headers = transport_.meet(std::move(offers), checked);
  if (checked) compare(headers);  // a rank that failed in between may be in another collective
}

std::vector<const void*> Round::fetch(const std::vector<Room>& rooms) {
  return transport_.fetch(rooms);
}

at::Tensor Round::empty_for(const Header& shown, int from) {
  if (shown.dtype < 0) {  // only where nobody compares
    throw CommError(transport_.world_rank(rank()), transport_.operation,
                    c10::str("rank ", transport_.world_rank(from), " brings no tensor but issues ",
                             describe(shown)));
  }
  const at::Tensor x = shown.empty();
  hold(x);
  return x;
}

void Round::compare(const std::vector<Header>& headers) const {
  for (int r = 1; r < size(); ++r) {
    if (agree(headers[0], headers[r])) continue;
    throw CommError(transport_.world_rank(rank()), transport_.operation,
                    c10::str("ranks disagree: rank ", transport_.world_rank(0), " issues ",
                             describe(headers[0]), ", rank ", transport_.world_rank(r), " issues ",
                             describe(headers[r])));
  }
}

void Round::count(const std::vector<Offer>& offers) {
  for (int r = 0; r < size(); ++r) {
    if (r != rank()) transport_.stats.bytes_sent += offers[r].bytes;
  }
}

}  // namespace intarsia
