// SPDX-License-Identifier: Apache-2.0
// Where internal control variables (record/icv.h) come from, and how they go on from a task to a team.
#pragma once

#include <cstdint>

#include "openmp/record/icv.h"

namespace weft::openmp {

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
