// What does a collective cost, and what of it is the comparison of headers? Microseconds a call,
// checked and unchecked, from 64 bytes to 64 MiB.
// usage: group_bench [--ranks N,N…] [--largest BYTES] [--json FILE]     threads: 2,4
//        mpirun -np N group_bench [--largest BYTES] [--json FILE]       MPI
#include <intarsia/launch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "aten.h"

using namespace intarsia;

namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::vector<int> ranks{2, 4};
  int64_t largest = int64_t(64) << 20;
  std::string json;
};

struct Row {
  std::string operation;
  int64_t bytes = 0;
  double checked = 1e30, unchecked = 1e30;  // microseconds
};

using Operation = std::function<void(Group&, const at::Tensor&)>;

const std::vector<std::pair<std::string, Operation>> kOperations = {
    {"barrier", [](Group& g, const at::Tensor&) { g.barrier(); }},
    {"all_reduce", [](Group& g, const at::Tensor& x) { g.all_reduce(x); }},
    {"all_gather", [](Group& g, const at::Tensor& x) { g.all_gather(x); }},
    {"broadcast", [](Group& g, const at::Tensor& x) { g.broadcast(x); }},
};

double microseconds_of(Group& group, const Operation& operation, const at::Tensor& x,
                       int64_t calls) {
  group.barrier();
  const auto start = Clock::now();
  for (int64_t i = 0; i < calls; ++i) operation(group, x);
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / double(calls);
}

/// The median of some batches of about 20 ms; the number of calls is rank 0's choice.
double measure(Group& group, const Operation& operation, const at::Tensor& x) {
  const double once = microseconds_of(group, operation, x, 3);
  const auto wanted = std::clamp<int64_t>(int64_t(20e3 / once), 1, 2000);
  const int64_t calls = group.broadcast(at::full({1}, wanted, at::kLong)).item<int64_t>();
  std::vector<double> batches;
  for (int i = 0; i < 3; ++i) batches.push_back(microseconds_of(group, operation, x, calls));
  std::nth_element(batches.begin(), batches.begin() + 1, batches.end());
  return batches[1];
}

void measure_all(Group& group, const Settings& settings, bool checked, std::vector<Row>& rows) {
  size_t row = 0;
  for (const auto& [name, operation] : kOperations) {
    for (int64_t bytes : {64, 1 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}) {
      if (bytes > settings.largest || (name == "barrier" && bytes > 64)) continue;
      const double time = measure(group, operation, at::ones({bytes / 4}));
      if (group.rank() != 0) continue;
      if (row == rows.size()) rows.push_back({name, name == "barrier" ? 0 : bytes});
      double& best = checked ? rows[row].checked : rows[row].unchecked;
      best = std::min(best, time);
      ++row;
    }
  }
}

std::string size_of(int64_t bytes) {
  if (bytes == 0) return "-";
  if (bytes < 1024) return std::to_string(bytes) + " B";
  return bytes < (1 << 20) ? std::to_string(bytes >> 10) + " KiB"
                           : std::to_string(bytes >> 20) + " MiB";
}

void print(const std::string& title, const std::vector<Row>& rows) {
  std::cout << title << "\n"
            << std::left << std::setw(12) << "operation" << std::right << std::setw(9) << "bytes"
            << std::setw(14) << "checked us" << std::setw(14) << "unchecked us" << std::setw(9)
            << "ratio"
            << "\n";
  for (const Row& row : rows) {
    std::cout << std::left << std::setw(12) << row.operation << std::right << std::setw(9)
              << size_of(row.bytes) << std::fixed << std::setprecision(1) << std::setw(14)
              << row.checked << std::setw(14) << row.unchecked << std::setprecision(2)
              << std::setw(9) << row.checked / row.unchecked << "\n";
  }
  std::cout << std::endl;
}

/// ranks 0: those of the launcher. True on the rank that reports.
bool bench(int ranks, const Settings& settings, nlohmann::json& report) {
  std::vector<Row> rows;
  int size = 0;
  bool reports = false;
  for (int turn = 0; turn < 6; ++turn) {  // in turns, so that a busy machine disturbs both alike
    const bool checked = turn % 2 == 0;
    const auto body = [&](Group& group) {
      measure_all(group, settings, checked, rows);
      if (group.rank() == 0) size = group.size();
      if (group.rank() == 0) reports = true;
    };
    launch::start(ranks, body, {.checked = checked, .threads_per_rank = 1});
  }
  if (!reports) return false;
  const std::string backend = ranks == 0 ? "mpi" : "threads";
  print(backend + ", " + std::to_string(size) + " ranks on " + std::to_string(launch::cores()) +
            " cores",
        rows);
  for (const Row& row : rows) {
    report.push_back({{"backend", backend},
                      {"ranks", size},
                      {"operation", row.operation},
                      {"bytes", row.bytes},
                      {"checked_us", row.checked},
                      {"unchecked_us", row.unchecked}});
  }
  return true;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--json") {
      settings.json = value;
    } else if (flag == "--largest") {
      settings.largest = std::stoll(value);
    } else if (flag == "--ranks") {
      settings.ranks.clear();
      std::istringstream numbers(value);
      for (std::string n; std::getline(numbers, n, ',');) settings.ranks.push_back(std::stoi(n));
    } else {
      throw std::invalid_argument("no flag " + flag + "; use --ranks, --largest, --json");
    }
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  nlohmann::json report = nlohmann::json::array();
  bool reports = false;
  const auto ranks = launch::under_mpi() ? std::vector<int>{0} : settings.ranks;
  for (int n : ranks) reports = bench(n, settings, report) || reports;
  if (reports && !settings.json.empty()) std::ofstream(settings.json) << report.dump(1) << "\n";
}
