// SPDX-License-Identifier: Apache-2.0
#include "duel/ratios.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weft::tools {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<Interval> interval_of_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t count = values.size();
  // How many of n values lie below the median is binomial. As many are left out at each end as have at most 0.5 %.
  double chance = std::pow(0.5, static_cast<double>(count));
  double below = 0;
  size_t left_out = 0;
  for (; left_out < count / 2; ++left_out) {
    below += chance;
    if (below > 0.005) break;
    chance *= static_cast<double>(count - left_out) / static_cast<double>(left_out + 1);
  }
  if (left_out == 0) return std::nullopt;
  return Interval{values[left_out - 1], values[count - left_out]};
}

}  // namespace weft::tools
