// SPDX-License-Identifier: Apache-2.0
// What pairs of times say of the ratio of two programs' times.
#pragma once

#include <optional>
#include <vector>

namespace weft::tools {

struct Interval {
  double low = 0;
  double high = 0;
};

double median_of(std::vector<double> values);

// In which the median of the ratios lies with a confidence of 99 %, whatever they are distributed like: by the order of
// the values (Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2). None: there are too few.
std::optional<Interval> interval_of_median(std::vector<double> values);

}  // namespace weft::tools
