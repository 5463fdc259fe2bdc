// SPDX-License-Identifier: Apache-2.0
// Internal control variables (OpenMP 5.2, section 2): those with data-environment scope. Each task has
// its own; a task that never sets one shares the record of the team it belongs to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/options.h"

namespace weft::openmp {

// What a task lets the calls of a library have whose jobs weft runs (interpose/own_limits.h).
struct ThreadsOfLibrary {
  static constexpr int kMost = (1 << 15) - 1;
  uint16_t threads : 15 = 0;      // 0: what the process lets them have
  uint16_t sets_process : 1 = 0;  // this task, which is implicit, has raised that
  uint16_t before = 0;            // what it was told before it set either
  bool operator==(const ThreadsOfLibrary&) const = default;
};

struct Icvs {
  static constexpr size_t kLibraries = 2;
  int nthreads = 1;                  // nthreads-var, first element: what the next region asks for
  int max_active_levels = 1;         // max-active-levels-var
  int thread_limit = 1;              // thread-limit-var
  int structured_limit = 1;          // structured-thread-limit-var: of these, how many regions may have
  bool dynamic = false;              // dyn-var
  uint8_t nthreads_tail = 0;  // nthreads-var, the other elements: see nthreads_tail(); 0: those of OMP_NUM_THREADS
  int16_t default_device = 0;  // default-device-var (device.h)
  bool affinity = false;  // whether regions have to do with places (team_affinity.h); never changes
  base::LoopSchedule run_schedule{};  // run-sched-var
  std::array<ThreadsOfLibrary, kLibraries> limits_of_libraries{};
  uintptr_t allocator = 1;  // def-allocator-var (memory.h)
};

}  // namespace weft::openmp
