#include "group/laws.h"

#include <intarsia/error.h>

#include <cmath>

#include "group/header.h"
#include "support/tensors.h"

namespace intarsia::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<at::ScalarType> kTypes = {
    at::kDouble,       at::kFloat,         at::kHalf,  at::kBFloat16, at::kLong,
    at::kInt,          at::kShort,         at::kChar,  at::kByte,     at::kBool,
    at::kComplexFloat, at::kComplexDouble, at::kUInt16};

/// What rank r brings: known to all, so each can compute the whole.
at::Tensor brought(int r, at::IntArrayRef shape, at::ScalarType dtype = at::kFloat) {
  const int64_t count = c10::multiply_integers(shape);
  auto x = (at::arange(count, at::kLong) * 7 + r * 13).remainder(23);
  return (dtype == at::kBool ? x.eq(r) : x.to(dtype)).view(shape);
}

/// Numbers whose sum depends on the order.
at::Tensor rough(int r, at::IntArrayRef shape) {
  return randn(shape, 100 + r) * std::pow(10, r % 4);
}

std::vector<at::Tensor> all_brought(Group& group, at::IntArrayRef shape) {
  std::vector<at::Tensor> all;
  for (int r = 0; r < group.size(); ++r) all.push_back(brought(r, shape));
  return all;
}

at::Tensor sum_in_order(Group& group, at::IntArrayRef shape, at::ScalarType dtype) {
  at::Tensor sum = rough(0, shape).to(dtype).to(at::kDouble == dtype ? at::kDouble : at::kFloat);
  for (int r = 1; r < group.size(); ++r) sum = sum + rough(r, shape).to(dtype).to(sum.dtype());
  return sum.to(dtype);
}

void all_reduce_sums_in_rank_order_to_the_bit(Group& group) {
  for (auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (int64_t size : {1, 5, 1000, 8191, 20011, 300007}) {
      const auto sum = group.all_reduce(rough(group.rank(), {size}).to(dtype));
      EXPECT_TENSOR_EQ(sum, sum_in_order(group, {size}, dtype)) << size << " " << dtype;
    }
  }
}

void all_reduce_knows_every_dtype(Group& group) {
  for (auto dtype : kTypes) {
    auto whole = brought(0, {3, 11}, dtype).to(at::kComplexDouble);
    for (int r = 1; r < group.size(); ++r) {
      whole = whole + brought(r, {3, 11}, dtype).to(at::kComplexDouble);
    }
    const auto sum = group.all_reduce(brought(group.rank(), {3, 11}, dtype));
    if (dtype == at::kBool) whole = at::real(whole).gt(0).to(at::kComplexDouble);
    EXPECT_EQ(sum.scalar_type(), dtype);
    EXPECT_TRUE(sum.to(at::kComplexDouble).equal(whole)) << dtype_name(dtype);
  }
}

void all_reduce_takes_the_maximum(Group& group) {
  for (auto dtype : {at::kFloat, at::kHalf, at::kLong, at::kByte}) {
    auto whole = brought(0, {77}, dtype);
    for (int r = 1; r < group.size(); ++r) whole = at::maximum(whole, brought(r, {77}, dtype));
    EXPECT_TENSOR_EQ(group.all_reduce(brought(group.rank(), {77}, dtype), Reduce::kMax), whole);
  }
  auto x = at::zeros({2});
  if (group.rank() == group.size() - 1) x[0] = NAN;
  const auto max = group.all_reduce(x, Reduce::kMax);
  EXPECT_TRUE(std::isnan(max[0].item<float>()) && max[1].item<float>() == 0);
}

void all_reduce_takes_any_strides(Group& group) {
  const auto x = brought(group.rank(), {6, 10}).t().slice(0, 0, 10, 3);
  auto whole = at::zeros({4, 6});
  for (const auto& part : all_brought(group, {6, 10})) whole += part.t().slice(0, 0, 10, 3);
  const auto before = x.clone();
  const auto sum = group.all_reduce(x);
  EXPECT_TENSOR_EQ(sum, whole);
  EXPECT_TRUE(sum.is_contiguous());
  EXPECT_TENSOR_EQ(x, before);
  const auto z = at::complex(at::ones({3}), at::ones({3}) * (group.rank() + 1));
  const auto conjugated = group.all_reduce(z.conj());  // a view with a bit set, not other bytes
  const double imaginary = -group.size() * (group.size() + 1) / 2.0;
  EXPECT_EQ(at::imag(conjugated)[2].item<float>(), imaginary);
}

void all_reduce_takes_nothing_and_numbers(Group& group) {
  EXPECT_EQ(group.all_reduce(at::zeros({0, 3})).sizes(), at::IntArrayRef({0, 3}));
  const auto sum = group.all_reduce(at::scalar_tensor(group.rank() + 1.0));
  EXPECT_EQ(sum.dim(), 0);
  EXPECT_EQ(sum.item<double>(), group.size() * (group.size() + 1) / 2.0);
}

void all_gather_joins_equal_parts(Group& group) {
  for (int64_t dim : {0, 1, 2, -1, -3}) {
    const auto whole = group.all_gather(brought(group.rank(), {2, 3, 4}), dim);
    EXPECT_TENSOR_EQ(whole, at::cat(all_brought(group, {2, 3, 4}), dim));
  }
}

void all_gather_joins_unequal_parts(Group& group) {
  for (int64_t dim : {0, 1}) {
    std::vector<at::Tensor> parts;
    for (int r = 0; r < group.size(); ++r) {  // rank 1 has nothing
      const int64_t extent = r == 1 ? 0 : 3 * r + 1;
      parts.push_back(dim == 0 ? brought(r, {extent, 5}) : brought(r, {5, extent}));
    }
    EXPECT_TENSOR_EQ(group.all_gather(parts[group.rank()], dim), at::cat(parts, dim));
  }
}

void all_gather_joins_numbers_and_nothing(Group& group) {
  const auto ranks = group.all_gather(at::scalar_tensor(group.rank(), at::kLong));
  EXPECT_TENSOR_EQ(ranks, at::arange(group.size(), at::kLong));
  EXPECT_EQ(group.all_gather(at::zeros({0, 2}), 0).sizes(), at::IntArrayRef({0, 2}));
  EXPECT_EQ(group.all_gather(at::zeros({2, 0}), 0).sizes(), at::IntArrayRef({2 * group.size(), 0}));
}

void all_gather_knows_every_dtype(Group& group) {
  for (auto dtype : kTypes) {
    std::vector<at::Tensor> parts;
    for (int r = 0; r < group.size(); ++r) parts.push_back(brought(r, {2, 3}, dtype));
    EXPECT_TENSOR_EQ(group.all_gather(parts[group.rank()], 1), at::cat(parts, 1));
  }
}

void gather_brings_every_shape_to_the_root(Group& group) {
  for (int root = 0; root < group.size(); ++root) {
    const auto all = group.gather(brought(group.rank(), {group.rank(), 3}), root);
    EXPECT_EQ(all.size(), group.rank() == root ? group.size() : 0u);
    for (size_t r = 0; r < all.size(); ++r) {
      EXPECT_TENSOR_EQ(all[r], brought(r, {int64_t(r), 3}));
    }
  }
}

void scatter_gives_each_rank_its_part(Group& group) {
  for (int root = 0; root < group.size(); ++root) {
    std::vector<at::Tensor> parts;
    for (int r = 0; r < group.size() && group.rank() == root; ++r) {
      parts.push_back(brought(r, {2, r + root}).t());
    }
    const auto mine = group.scatter(parts, root);
    EXPECT_TENSOR_EQ(mine, brought(group.rank(), {2, group.rank() + root}).t().contiguous());
  }
}

void broadcast_carries_shape_and_dtype(Group& group) {
  for (int root = 0; root < group.size(); ++root) {
    for (auto dtype : kTypes) {
      const auto sent = brought(root, {2, 3, 1}, dtype);
      const auto whole = group.broadcast(group.rank() == root ? sent : at::Tensor(), root);
      EXPECT_TENSOR_EQ(whole, sent);
    }
  }
  const auto large = group.broadcast(group.rank() == 0 ? rough(0, {100003}) : at::ones({2}));
  EXPECT_TENSOR_EQ(large, rough(0, {100003}));
}

void messages_of_a_tag_arrive_in_order(Group& group) {
  const int next = (group.rank() + 1) % group.size();
  const int last = (group.rank() + group.size() - 1) % group.size();
  for (int i = 0; i < 3; ++i) group.send(brought(group.rank() + i, {i, 2}), next, 5);
  group.send(brought(group.rank(), {40000}, at::kDouble), next, int64_t(1) << 40);
  group.send(at::ones({1}, at::kBool), next, -1);
  EXPECT_TENSOR_EQ(group.recv(last, -1), at::ones({1}, at::kBool));
  EXPECT_TENSOR_EQ(group.recv(last, int64_t(1) << 40), brought(last, {40000}, at::kDouble));
  for (int i = 0; i < 3; ++i) EXPECT_TENSOR_EQ(group.recv(last, 5), brought(last + i, {i, 2}));
}

void messages_pass_beside_collectives(Group& group) {
  if (group.rank() == group.size() - 1) group.send(at::ones({3}), 0, 1);
  const auto sum = group.all_reduce(at::ones({1}));
  if (group.rank() == 0) {
    EXPECT_TENSOR_EQ(group.recv(group.size() - 1, 1), at::ones({3}));
  }
  EXPECT_EQ(sum.item<float>(), group.size());
  group.barrier();
}

void split_makes_groups_by_colour_and_key(Group& group) {
  const Group part = group.split(group.rank() % 2, -group.rank());
  const int size = (group.size() + 1 - group.rank() % 2) / 2;
  EXPECT_EQ(part.size(), size);
  EXPECT_EQ(part.rank(), size - 1 - group.rank() / 2);  // the key turns the order
  std::vector<int64_t> expected;
  for (int r = group.size() - 1; r >= 0; --r) {
    if (r % 2 == group.rank() % 2) expected.push_back(r);
  }
  EXPECT_TENSOR_EQ(part.all_gather(at::scalar_tensor(group.rank(), at::kLong)),
                   at::tensor(expected, at::kLong));
  EXPECT_EQ(part.local_size(), part.size());
  EXPECT_EQ(part.timeout(), group.timeout());
}

void split_groups_split_again(Group& group) {
  const Group half = group.split(group.rank() < (group.size() + 1) / 2);
  const Group pair = half.split(half.rank() / 2);
  const Group whole = group.split(0);
  EXPECT_EQ(pair.all_reduce(at::ones({1})).item<float>(), pair.size());
  EXPECT_EQ(whole.all_reduce(at::ones({1})).item<float>(), group.size());
  EXPECT_EQ(half.all_reduce(at::ones({1})).item<float>(), half.size());
  EXPECT_EQ(group.all_reduce(at::ones({1})).item<float>(), group.size());
}

void a_negative_colour_stands_alone(Group& group) {
  const Group part = group.split(group.rank() == 0 ? -1 : 3);
  EXPECT_EQ(part.size(), group.rank() == 0 ? 1 : group.size() - 1);
  EXPECT_EQ(part.all_reduce(at::ones({1})).item<float>(), part.size());
}

void messages_of_two_groups_do_not_mix(Group& group) {
  const Group twin = group.split(0);
  const int next = (group.rank() + 1) % group.size();
  const int last = (group.rank() + group.size() - 1) % group.size();
  group.send(at::zeros({1}), next, 0);
  twin.send(at::ones({1}), next, 0);
  EXPECT_EQ(twin.recv(last, 0).item<float>(), 1);
  EXPECT_EQ(group.recv(last, 0).item<float>(), 0);
}

void mistakes_are_refused_on_every_rank(Group& group) {
  EXPECT_REFUSED(group.all_reduce({}), "undefined");
  EXPECT_REFUSED(group.all_reduce(at::zeros({1}, at::kComplexFloat), Reduce::kMax), "complex64");
  EXPECT_REFUSED(group.all_gather(at::zeros({2, 2}), 2), "dim 2 is not in -2..1");
  EXPECT_REFUSED(group.broadcast(at::zeros({1}), group.size()), "root");
  EXPECT_REFUSED(group.gather(at::zeros({1}), -1), "root -1");
  EXPECT_REFUSED(group.scatter(std::vector<at::Tensor>(group.size() + 1, at::ones({1}))), "brings");
  EXPECT_REFUSED(group.send(at::zeros({1}), group.size()), "send: rank");
  EXPECT_REFUSED(group.recv(-1), "recv: rank -1");
  EXPECT_REFUSED(group.all_reduce(at::zeros(std::vector<int64_t>(17, 1))), "17 axes");
  group.barrier();  // and the group goes on
}

template <class F>
void expect_disagreement(Group& group, F f, const std::string& mine, const std::string& other) {
  if (group.size() == 1) return;
  const std::string self = "rank " + std::to_string(group.rank()) + ": ";
  EXPECT_THAT(f, ThrowsMessage<CommError>(AllOf(HasSubstr(self), HasSubstr("ranks disagree"),
                                                HasSubstr(mine), HasSubstr(other))));
}

void disagreement_is_named_on_every_rank(Group& group) {
  const bool odd = group.rank() == group.size() - 1;  // the one that differs
  const std::string name = "rank " + std::to_string(group.size() - 1) + " issues #";
  const at::Tensor x = at::zeros({4, 8});
  const auto other_op = [&] {
    odd ? group.broadcast(at::zeros({3}, at::kLong)) : group.all_reduce(x);
  };
  expect_disagreement(group, other_op, "all_reduce float32 [4, 8]", "broadcast int64 [3]");
  const auto other_type = [&] { group.all_reduce(odd ? x.to(at::kHalf) : x); };
  expect_disagreement(group, other_type, "rank 0 issues #", name);
  const auto other_shape = [&] { group.all_reduce(odd ? x.t() : x); };
  expect_disagreement(group, other_shape, "float32 [4, 8]", "float32 [8, 4]");
  const auto other_reduce = [&] { group.all_reduce(x, odd ? Reduce::kMax : Reduce::kSum); };
  expect_disagreement(group, other_reduce, "all_reduce float32", "all_reduce(max) float32");
  const auto other_dim = [&] { group.all_gather(x, odd); };
  expect_disagreement(group, other_dim, "along 0", "along 1");
  const auto other_width = [&] { group.all_gather(odd ? at::zeros({4, 7}) : x); };
  expect_disagreement(group, other_width, "[4, 8]", "[4, 7]");
  const auto other_root = [&] { group.gather(x, odd); };
  expect_disagreement(group, other_root, "to rank 0", "to rank 1");
  const auto no_barrier = [&] { odd ? (void)group.split(0) : group.barrier(); };
  expect_disagreement(group, no_barrier, "barrier", "split");
  EXPECT_EQ(group.all_reduce(at::ones({1})).item<float>(), group.size());  // and goes on
}

void stats_count(Group& group) {
  const auto before = group.stats();
  group.all_reduce(at::zeros({10}));
  group.send(at::zeros({5}), (group.rank() + 1) % group.size());
  group.recv((group.rank() + group.size() - 1) % group.size());
  const auto after = group.stats();
  const int64_t bytes = group.size() == 1 ? 0 : 40 * (group.size() - 1) + 20;
  EXPECT_EQ(after.collectives - before.collectives, 1);
  EXPECT_EQ(after.bytes_sent - before.bytes_sent, bytes);
  EXPECT_GE(after.seconds_waiting, before.seconds_waiting);
}

}  // namespace

#define INTARSIA_LAW(name) \
  { #name, name }
const std::vector<Law>& laws() {
  static const std::vector<Law> all = {
      INTARSIA_LAW(all_reduce_sums_in_rank_order_to_the_bit),
      INTARSIA_LAW(all_reduce_knows_every_dtype),
      INTARSIA_LAW(all_reduce_takes_the_maximum),
      INTARSIA_LAW(all_reduce_takes_any_strides),
      INTARSIA_LAW(all_reduce_takes_nothing_and_numbers),
      INTARSIA_LAW(all_gather_joins_equal_parts),
      INTARSIA_LAW(all_gather_joins_unequal_parts),
      INTARSIA_LAW(all_gather_joins_numbers_and_nothing),
      INTARSIA_LAW(all_gather_knows_every_dtype),
      INTARSIA_LAW(gather_brings_every_shape_to_the_root),
      INTARSIA_LAW(scatter_gives_each_rank_its_part),
      INTARSIA_LAW(broadcast_carries_shape_and_dtype),
      INTARSIA_LAW(messages_of_a_tag_arrive_in_order),
      INTARSIA_LAW(messages_pass_beside_collectives),
      INTARSIA_LAW(split_makes_groups_by_colour_and_key),
      INTARSIA_LAW(split_groups_split_again),
      INTARSIA_LAW(a_negative_colour_stands_alone),
      INTARSIA_LAW(messages_of_two_groups_do_not_mix),
      INTARSIA_LAW(mistakes_are_refused_on_every_rank),
      INTARSIA_LAW(disagreement_is_named_on_every_rank),
      INTARSIA_LAW(stats_count),
  };
  return all;
}

}  // namespace intarsia::test
