// SPDX-License-Identifier: Apache-2.0
// What the environment says about places and binding, as one answer.
#pragma once

#include "base/options.h"
#include "openmp/affinity/place_list.h"

namespace weft::openmp {

struct Affinity {
  // Whether threads are bound. If not, there are no places.
  bool on = false;
  base::BindList policies;      // bind-var, one value per nesting level; the last one holds for those below
  PlaceList places;             // place-partition-var of the initial thread
  int first = 0;                // the place of the initial thread
  bool cyclic = false;          // the policy true goes round the places, one thread each
  bool local = false;           // members of a loop help those of their own place first (WEFT_NUMA=local)
  platform::CpuSet process;     // what the process may use, bound or not; by KMP_HW_SUBSET a part of that
};

// Whether any variable says something about it: what could make affinity() warn.
bool affinity_requested(const base::Options& options) noexcept;

// The answer to `options` for a process that may use `process`, with /sys looked up below `root` ("" for the real one).
// Warns about what it cannot use. An `Affinity` keeps its memory for ever.
Affinity decide_affinity(const base::Options& options, const platform::CpuSet& process, const char* root) noexcept;

// That of this process; the first call must come before any thread is bound. Thread-safe.
const Affinity& affinity() noexcept;

// bind-var of the tasks of a team at nesting depth `level`.
base::ProcBind policy_at(const Affinity& affinity, int level) noexcept;

}  // namespace weft::openmp
