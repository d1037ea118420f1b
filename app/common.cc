#include "app/common.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>

#include "aten.h"
#include "check.h"

namespace intarsia::app {

at::ScalarType dtype_of(const std::string& name) {
  static const std::map<std::string, at::ScalarType> names{
      {"float32", at::kFloat}, {"f32", at::kFloat},    {"bfloat16", at::kBFloat16},
      {"bf16", at::kBFloat16}, {"float16", at::kHalf}, {"f16", at::kHalf}};
  const auto found = names.find(name);
  check(found != names.end(), "--dtype ", name, " is not known; use float32, bfloat16 or float16");
  return found->second;
}

at::Device device_of(const std::string& name) {
  check(name == "cpu" || name == "cuda" || name.starts_with("cuda:"), "--device ", name,
        " is not known; use cpu or cuda");
  const at::Device device(name);
  check(!device.is_cuda() || at::hasCUDA(), "--device ", name,
        ": this libtorch has no CUDA; use cpu, or build with a CUDA libtorch");
  return device;
}

int64_t bytes_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  std::string unit(end);
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  static const std::map<std::string, double> units{{"", 1},
                                                   {"b", 1},
                                                   {"k", 1024.},
                                                   {"kib", 1024.},
                                                   {"kb", 1e3},
                                                   {"m", 1048576.},
                                                   {"mib", 1048576.},
                                                   {"mb", 1e6},
                                                   {"g", 1073741824.},
                                                   {"gib", 1073741824.},
                                                   {"gb", 1e9},
                                                   {"t", 1099511627776.},
                                                   {"tib", 1099511627776.}};
  const auto found = units.find(unit);
  const double bytes = found == units.end() ? -1 : value * found->second;
  check(end != text.c_str() && std::isfinite(bytes) && bytes >= 1 && bytes < 1e18, "\"", text,
        "\" is not a size in bytes; write 2GiB, 512MiB or 1500000000");
  return int64_t(bytes);
}

std::string number(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string bytes_text(int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return number(value, unit == 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0) + " " + units[unit];
}

void on_ranks(const Common& common, const std::function<void(Group&)>& body) {
  check(common.timeout >= 0.001 && common.timeout <= 1e9, "--timeout ", common.timeout,
        " s; use 0.001 to 1e9");
  launch::Options options;
  options.timeout = std::chrono::milliseconds(int64_t(common.timeout * 1000));
  options.checked = !common.no_check;
  options.on_stuck = [](const std::string& message) {
    std::cerr << "intarsia: " << message << std::endl;
    std::_Exit(3);
  };
  launch::start(common.ranks, body, options);
}

int launcher_rank() {
  if (!launch::under_mpi()) return 0;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

void say(const Common& common, const std::string& text) {
  if (!common.quiet) std::cerr << "intarsia: " + text + "\n";
}

void say_all(const Common& common, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) say(common, note);
}

std::function<void(int64_t, int64_t)> progress_bar(const Common& common, const std::string& what) {
  if (common.quiet || !::isatty(STDERR_FILENO)) return nullptr;
  return [what](int64_t done, int64_t total) {
    constexpr int64_t kWidth = 32;
    const auto full = size_t(kWidth * done / std::max<int64_t>(total, 1));
    std::cerr << "\r" << what << " [" << std::string(full, '#')
              << std::string(size_t(kWidth) - full, '.') << "] " << done << "/" << total
              << (done == total ? "\n" : "") << std::flush;
  };
}

namespace {

/// Columns of numbers are set to the right, words to the left.
bool is_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-');
}

struct Column {
  size_t width = 0;
  bool numbers = true;
};

std::string padded(const std::string& cell, const Column& column) {
  const std::string space(column.width - cell.size(), ' ');
  return column.numbers ? space + cell : cell + space;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns;
  for (size_t r = 0; r < rows.size(); ++r) {
    columns.resize(std::max(columns.size(), rows[r].size()));
    for (size_t c = 0; c < rows[r].size(); ++c) {
      columns[c].width = std::max(columns[c].width, rows[r][c].size());
      columns[c].numbers = columns[c].numbers && (r == 0 || is_number(rows[r][c]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) line += (c ? "  " : "") + padded(row[c], columns[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace intarsia::app
