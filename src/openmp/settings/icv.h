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
  int structured_limit = 1;          // structured-thread-limit-var: of these, how many regions may have
  bool dynamic = false;              // dyn-var
  uint8_t nthreads_tail = 0;  // nthreads-var, the other elements: see nthreads_tail(); 0: those of OMP_NUM_THREADS
  int16_t default_device = 0;  // default-device-var (device.h)
  bool affinity = false;  // whether regions have to do with places (team_affinity.h); never changes
  base::LoopSchedule run_schedule{};  // run-sched-var
  uintptr_t allocator = 1;  // def-allocator-var (memory.h)
};

// Sets thread-limit-var, and what OMP_THREADS_RESERVE leaves of it to regions (OpenMP 6.0, section 4.3.10).
void set_thread_limit(Icvs& icvs, int limit) noexcept;

// free-agent-thread-limit-var of the process.
int free_agent_limit() noexcept;

// What the environment says for the initial task of a thread. Thread-safe.
const Icvs& initial_icvs() noexcept;

// From the ICVs of a task to those of a team that it starts, at nesting depth `level`: nthreads-var goes on by one
// element, the last of which stays.
void enter_level(Icvs& icvs, int level) noexcept;

// A list that a num_threads clause gives to the levels below its region, by a number that fits into Icvs. Lists are
// kept for good, the same one once; there is room for some hundred elements, and one that does not fit is cut, with a
// warning. `count` is 1 or more. Thread-safe.
uint8_t nthreads_tail(const int* list, int count) noexcept;

// Processors the process may use: the answer of omp_get_num_procs.
int num_procs() noexcept;

}  // namespace weft::openmp
