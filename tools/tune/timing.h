// SPDX-License-Identifier: Apache-2.0
// The clock of all measurements, and what stands for many of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <vector>

namespace weft::tune {

// Nanoseconds of a steady clock.
inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The upper one of two; 0 without values.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace weft::tune
