// SPDX-License-Identifier: Apache-2.0
// For whom each thread waits, and which of them can never go on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "threads/thread_table.h"

namespace weft::tools::threads {

// Threads are named by their places in the table.
struct Need {
  std::vector<size_t> whom;  // who has to do something first
  bool any = false;          // one of them is enough
  bool open = false;         // or somebody whom the table does not show
  std::string missing;       // who will never come, in words; empty: nobody is known to be missing
};

struct Diagnosis {
  std::vector<Need> needs;    // by thread
  std::vector<bool> stuck;    // by thread: it cannot go on, whatever the others do
  std::vector<size_t> cycle;  // threads that wait for each other in a circle, each for the next one; or empty
};

// By thread of `now`: whether it waits for the same at two looks.
std::vector<bool> those_that_stand_still(const Table& earlier, const Table& later, const Table& now);

// `still`: what has changed since an earlier look goes on.
Diagnosis diagnose(const Table& now, const std::vector<bool>& still);

}  // namespace weft::tools::threads
