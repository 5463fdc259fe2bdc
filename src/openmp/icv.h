// SPDX-License-Identifier: Apache-2.0
// Internal control variables (OpenMP 5.2, section 2): those with data-environment scope. Each task has
// its own; a task that never sets one shares the record of the team it belongs to.
#pragma once

#include <cstdint>

#include "base/options.h"

namespace weft::openmp {

struct Icvs {
  int nthreads = 1;                  // nthreads-var, first element: what the next region asks for
  int max_active_levels = 1;         // max-active-levels-var
  int thread_limit = 1;              // thread-limit-var
  bool dynamic = false;              // dyn-var
  bool affinity = false;             // whether regions have to do with places (team_affinity.h); never changes
  base::LoopSchedule run_schedule{}; // run-sched-var
  uintptr_t allocator = 1;           // def-allocator-var (memory.h)
};

// What the environment says for the initial task of a thread. Thread-safe.
const Icvs& initial_icvs() noexcept;

// nthreads-var of the tasks of a team at nesting depth `level`, whose parent's value is `inherited`.
int nthreads_at(int level, int inherited) noexcept;

// Processors the process may use: the answer of omp_get_num_procs.
int num_procs() noexcept;

}  // namespace weft::openmp
