#include "io/nearest.h"

#include <algorithm>
#include <numeric>

#include "io/sniff.h"

namespace intarsia::io {
namespace {

// Levenshtein; names are cut so that hostile ones stay cheap.
size_t edits(std::string_view a, std::string_view b) {
  constexpr size_t kLongest = 256;
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names,
                                 size_t count) {
  constexpr size_t kMost = 5000;
  std::vector<std::pair<size_t, std::string>> found;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    found.emplace_back(edits(name, names[i]), names[i]);
  count = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
  std::vector<std::string> result;
  for (size_t i = 0; i < count; ++i) result.push_back(std::move(found[i].second));
  return result;
}

std::string listed(const std::vector<std::string>& names, size_t shown) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    text += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

}  // namespace intarsia::io
