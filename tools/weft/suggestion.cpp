// SPDX-License-Identifier: Apache-2.0
#include "suggestion.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weft::tools {

namespace {

// Letters that are added, left out, exchanged, or swapped with their neighbour (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  // Dashes are no letters.
  const size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  if (letters < 2) return {};
  const size_t most = letters / 3 + 1;
  size_t least = most + 1;
  const std::string* nearest = nullptr;
  bool alone = false;
  for (const std::string& name : names) {
    const size_t here = name.starts_with(word) ? 0 : distance(word, name);
    if (here > least) continue;
    alone = here < least;
    least = here;
    nearest = &name;
  }
  return alone && least <= most ? "did you mean " + *nearest + '?' : "";
}

}  // namespace weft::tools
