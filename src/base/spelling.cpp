// SPDX-License-Identifier: Apache-2.0
#include "base/spelling.h"

#include <algorithm>
#include <cstring>

namespace weft::base {

int spelling_distance(const char* a, size_t a_length, const char* b) noexcept {
  constexpr size_t kLongest = 64;
  const size_t b_length = std::strlen(b);
  if (a_length >= kLongest || b_length >= kLongest) return kLongest;
  int row[kLongest];
  for (size_t j = 0; j <= b_length; ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a_length; ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b_length; ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b_length];
}

}  // namespace weft::base
