// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "report/model/model.h"
#include "report/model/tree.h"

namespace weft::tools::report {

namespace {

// Samples are rounded, so that a little more may have been lost than there was.
double without(double lost, double whole) { return whole > 0 ? std::clamp(1 - lost / whole, 0.0, 1.0) : 1; }

Factors factors(const std::array<double, kLosses>& lost, double whole) {
  Factors result;
  double sum = 0;
  for (size_t i = 0; i < lost.size(); ++i) {
    result.each[i] = without(lost[i], whole);
    sum += lost[i];
  }
  result.parallel_efficiency = without(sum, whole);
  return result;
}

}  // namespace

Factors factors_of(const Report& report) {
  std::array<double, kLosses> lost{};
  for (const Site& site : report.sites) {
    for (size_t i = 0; i < lost.size(); ++i) lost[i] += site.lost[i];
  }
  return factors(lost, report.run.cpus * report.run.seconds);
}

// The time of a part of the program is what its CPUs did and what they lost: instances of nested regions run at the
// same time, so that CPUs x wall time would count more than there is.
Factors factors_of(const Report& report, int root) {
  if (root == 0) return factors_of(report);
  std::array<double, kLosses> lost{};
  double whole = 0;
  for (const int site : sites_within(report, root)) {
    const Site& here = report.sites[static_cast<size_t>(site)];
    whole += here.useful + here.lost_in_all();
    for (size_t i = 0; i < lost.size(); ++i) lost[i] += here.lost[i];
  }
  return factors(lost, whole);
}

}  // namespace weft::tools::report
