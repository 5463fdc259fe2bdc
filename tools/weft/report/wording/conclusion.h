// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/model/model.h"

namespace weft::tools::report {

// Parallel efficiency from which on a run has used its CPUs well.
inline constexpr double kGoodEfficiency = 0.8;

// What is said where there is no advice. That nothing was found is no praise: a run that has not used its CPUs well is
// told so, and what else has had them, or what the most was lost to.
struct Conclusion {
  bool is_good = true;
  std::string text;
};
Conclusion conclusion_of(const Report& report);

}  // namespace weft::tools::report
