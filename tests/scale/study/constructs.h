// SPDX-License-Identifier: Apache-2.0
// What the study has the machine do: constructs of OpenMP, by a team of n threads.
#pragma once

#include <string>
#include <vector>

#include "timed/model.h"

namespace weft::scale {

struct Measure {
  std::string name;  // with its unit
  double value;
};

// One construct, repeated; the time of one repetition as the program's first thread sees it.
struct Outcome {
  std::vector<Time> times;
  std::vector<Measure> measures;
};

struct Construct {
  const char* name;
  const char* what;
  Outcome (*run)(int threads, int repetitions);
};

const std::vector<Construct>& constructs();

}  // namespace weft::scale
