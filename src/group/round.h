#pragma once
#include <chrono>
#include <vector>

#include "group/transport.h"

namespace intarsia {

/// One collective. Its end, also by an exception, waits until no peer reads this rank's memory.
class Round {
 public:
  /// x: what this rank brings, may be undefined.
  Round(Transport& transport, Op op, int64_t detail, const at::Tensor& x);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  const Header& header() const { return header_; }

  /// Same bytes for every peer.
  std::vector<Offer> offer_all(const at::Tensor& x);
  /// Nothing for any peer.
  std::vector<Offer> offer_none() const;

  /// The first step: throws CommError on every rank if the ranks do not agree.
  std::vector<Header> meet(std::vector<Offer> offers, bool want_headers);
  /// A further step of the same collective.
  void meet_again(std::vector<Offer> offers);
  std::vector<const void*> fetch(const std::vector<Room>& rooms);

  /// A CPU tensor, held, for what rank `from` shows in its header.
  at::Tensor empty_for(const Header& shown, int from);

  /// Keeps x until the round has ended.
  void hold(const at::Tensor& x) { held_.push_back(x); }

 private:
  void compare(const std::vector<Header>& headers) const;
  void count(const std::vector<Offer>& offers);

  Transport& transport_;
  Header header_;
  std::vector<at::Tensor> held_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace intarsia
