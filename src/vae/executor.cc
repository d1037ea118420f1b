#include <intarsia/error.h>
#include <intarsia/executor.h>
#include <intarsia/plan.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "aten.h"
#include "check.h"
#include "group/memory.h"
#include "vae/workers.h"

namespace intarsia {
namespace {

using vae::Outcome;
using vae::Workers;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

at::Tensor bytes_of(const std::string& text) {
  at::Tensor t = at::empty({int64_t(text.size())}, at::kByte);
  if (!text.empty()) std::memcpy(t.mutable_data_ptr(), text.data(), text.size());
  return t;
}

std::string text_of(const at::Tensor& bytes) {
  return {static_cast<const char*>(bytes.const_data_ptr()), size_t(bytes.numel())};
}

/// A cheap fingerprint of shape, dtype and bits (FNV-1a over bytes of the contiguous tensor).
int64_t fingerprint(const at::Tensor& z) {
  uint64_t hash = 1469598103934665603u;
  const auto mix = [&](uint64_t v) { hash = (hash ^ v) * 1099511628211u; };
  for (const int64_t s : z.sizes()) mix(uint64_t(s));
  mix(uint64_t(z.scalar_type()));
  const at::Tensor flat = z.cpu().contiguous();
  const auto* p = static_cast<const unsigned char*>(flat.const_data_ptr());
  for (size_t i = 0; i < flat.nbytes(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, p + i, std::min(sizeof word, flat.nbytes() - i));
    mix(word);
  }
  return int64_t(hash);
}

void check_same(const at::Tensor& z, Group& group) {
  check(z.defined(), "execute: no input tensor");
  const at::Tensor all = group.all_gather(at::full({1}, fingerprint(z), at::kLong));
  for (int r = 1; r < group.size(); ++r)
    check(all[r].item<int64_t>() == all[0].item<int64_t>(), "ranks 0 and ", r,
          " were given different inputs; every rank must bring the same tensor");
}

/// What this rank does, and with whom it talks.
struct Run {
  const Operator& op;
  const ExecuteOptions& options;
  Group& group;
  Split split;
  std::vector<int> owner;     ///< rank of each task
  std::vector<size_t> place;  ///< index of each task among its owner's
  std::vector<const TileTask*> mine;
};

using Owners = std::vector<std::vector<int64_t>>;

Owners balanced(const Split& split, int64_t parts) {
  std::vector<double> work;
  for (const TileTask& t : split.tasks) work.push_back(t.workload);
  return balance(work, parts);
}

void check_owners(const Owners& owners, size_t tasks, int ranks) {
  if (owners.empty()) return;
  check(int64_t(owners.size()) <= ranks, "execute: tasks are given to ", owners.size(),
        " ranks, the group has ", ranks);
  std::vector<int> given(tasks, 0);
  for (const auto& ids : owners)
    for (const int64_t id : ids) {
      check(id >= 0 && id < int64_t(given.size()), "execute: there is no task ", id);
      ++given[id];
    }
  for (size_t id = 0; id < given.size(); ++id)
    check(given[id] == 1, "execute: task ", id, " is given to ", given[id], " ranks, not to one");
}

void share_out(Run& run, Owners given) {
  run.owner.resize(run.split.tasks.size());
  run.place.resize(run.split.tasks.size());
  for (size_t r = 0; r < given.size(); ++r) {
    // Ascending, so that rank 0 can merge early.
    std::sort(given[r].begin(), given[r].end());
    for (size_t k = 0; k < given[r].size(); ++k) {
      run.owner[given[r][k]] = int(r);
      run.place[given[r][k]] = k;
      if (int(r) == run.group.rank()) run.mine.push_back(&run.split.tasks[given[r][k]]);
    }
  }
}

at::Tensor as_output(at::Tensor x, const GridSpec& grid) {
  return grid.output_dtype ? x.to(*grid.output_dtype) : x;
}

void send_results(const Run& run, Workers& workers, std::string& error) {
  for (size_t i = 0; i < run.mine.size(); ++i) {
    const Outcome outcome = workers.take(i);
    const int64_t tag = run.mine[i]->tile_id;
    run.group.send(bytes_of(outcome.error), 0, tag);
    if (outcome.error.empty())
      run.group.send(as_output(outcome.tensor, run.split.grid), 0, tag);
    else if (error.empty())
      error = c10::str("tile ", tag, ": ", outcome.error);
  }
}

struct PeerFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Rank 0's view: its own tiles from its workers, the others' as messages.
class Arrivals : public TileStream {
 public:
  Arrivals(const Run& run, Workers& workers) : run_(run), workers_(workers) {}

  std::optional<TileResult> next() override {
    if (id_ == int64_t(run_.split.tasks.size())) return std::nullopt;
    const int64_t id = id_++;
    Outcome outcome = run_.owner[id] == 0 ? workers_.take(run_.place[id]) : receive(id);
    if (!outcome.error.empty()) {
      if (run_.owner[id] == 0 && own_error_.empty())
        own_error_ = c10::str("tile ", id, ": ", outcome.error);
      throw PeerFailed(outcome.error);
    }
    if (run_.options.progress) run_.options.progress(id_, int64_t(run_.split.tasks.size()));
    return TileResult{run_.split.tasks[id].grid_coord,
                      as_output(std::move(outcome.tensor), run_.split.grid)};
  }

  /// Takes what is left, so that no message stays behind.
  void drain() {
    while (true) {
      try {
        if (!next()) return;
      } catch (const PeerFailed&) {
      }
    }
  }

  const std::string& own_error() const { return own_error_; }

 private:
  Outcome receive(int64_t id) const {
    Outcome outcome;
    outcome.error = text_of(run_.group.recv(run_.owner[id], id));
    if (outcome.error.empty()) outcome.tensor = run_.group.recv(run_.owner[id], id);
    return outcome;
  }

  const Run& run_;
  Workers& workers_;
  int64_t id_ = 0;
  std::string own_error_;
};

at::Tensor merge_results(const Run& run, Workers& workers, std::string& error) {
  Arrivals arrivals(run, workers);
  at::Tensor merged;
  try {
    merged = run.op.merge(arrivals, run.split.grid);
  } catch (const PeerFailed&) {
  } catch (const CommError&) {
    throw;
  } catch (const c10::Error& e) {
    error = c10::str("merge: ", e.what_without_backtrace());
  } catch (const std::exception& e) {
    error = c10::str("merge: ", e.what());
  }
  arrivals.drain();
  if (error.empty()) error = arrivals.own_error();
  return merged;
}

/// One exchange that ends every run: who failed, and what each rank did.
std::vector<RankReport> exchange_reports(const Run& run, const RankReport& own,
                                         const std::string& error) {
  Group& group = run.group;
  const at::Tensor row = at::tensor({double(!error.empty()), double(own.tiles), own.busy,
                                     own.waiting, double(own.bytes_sent), double(own.peak_bytes)},
                                    at::kDouble);
  const at::Tensor all = group.all_gather(row.unsqueeze(0));
  std::vector<RankReport> reports;
  for (int r = 0; r < group.size(); ++r) {
    const auto* v = all.const_data_ptr<double>() + 6 * r;
    if (v[0] != 0) {
      const std::string what = text_of(group.broadcast(bytes_of(error), r));
      throw std::runtime_error(c10::str("rank ", r, ": ", what));
    }
    reports.push_back({.tiles = int64_t(v[1]),
                       .busy = v[2],
                       .waiting = v[3],
                       .bytes_sent = int64_t(v[4]),
                       .peak_bytes = int64_t(v[5])});
  }
  return reports;
}

void check_tasks(const Split& split) {
  check(!split.tasks.empty(), "execute: split gave no tasks");
  for (size_t i = 0; i < split.tasks.size(); ++i)
    check(split.tasks[i].tile_id == int64_t(i), "execute: task ", i, " has tile_id ",
          split.tasks[i].tile_id, "; ids are 0, 1, 2 … in row-major order");
}

}  // namespace

Executed execute(const at::Tensor& z, const Operator& op, Group& group,
                 const ExecuteOptions& options) {
  check_same(z, group);
  check(options.parts >= 0, "parts is ", options.parts, "; use 0 (all ranks) or more");
  Executed done;
  const int64_t parts =
      options.parts == 0 ? group.size() : std::min<int64_t>(options.parts, group.size());
  if (options.parts > parts)
    done.notes.push_back(
        c10::str(options.parts, " parts asked for, ", parts, " used: the group has no more ranks"));
  Run run{.op = op,
          .options = options,
          .group = group,
          .split = op.split(z),
          .owner = {},
          .place = {},
          .mine = {}};
  check_tasks(run.split);
  check_owners(options.owners, run.split.tasks.size(), group.size());
  share_out(run, options.owners.empty() ? balanced(run.split, parts) : options.owners);

  const auto start = std::chrono::steady_clock::now();
  const int64_t sent_before = group.stats().bytes_sent;
  std::string error;
  RankReport own;
  {
    Workers workers(run.mine, op.exec, options.workers, options.threads_per_tile);
    if (group.rank() == 0)
      done.result = merge_results(run, workers, error);
    else
      send_results(run, workers, error);
    own = {.tiles = int64_t(run.mine.size()),
           .busy = workers.busy(),
           .waiting = std::max(0.0, since(start) - workers.seconds_to_last()),
           .bytes_sent = group.stats().bytes_sent - sent_before,
           .peak_bytes = peak_memory()};
  }
  done.ranks = exchange_reports(run, own, error);
  if (options.broadcast)
    done.result = group.broadcast(done.result, 0);
  else if (group.rank() != 0)
    done.result = at::empty({0}, z.options());
  return done;
}

}  // namespace intarsia
