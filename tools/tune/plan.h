// SPDX-License-Identifier: Apache-2.0
// What a job measures, in this order: a line of the plan's file for each entry,
//   NUMBER OPERATION BYTES CALLS SETTINGS WAY
// with SETTINGS as parse_settings() takes them, and WAY "mpi" or "own:" with the name of an Alltoall.
#pragma once

#include <string>
#include <vector>

#include "controls.h"
#include "operations.h"

namespace weft::tune {

struct Entry {
  int number = 0;
  const Operation* operation = nullptr;
  size_t bytes = 0;
  int calls = 0;
  std::string settings;
  std::vector<Setting> parsed;
  std::string way;
};

// Rank 0 reads the file. Ends the job with a message when it is no plan. Collective.
std::vector<Entry> read_plan(const char* file, int rank);

}  // namespace weft::tune
