// SPDX-License-Identifier: Apache-2.0
// What GOMP's tasks have in common, those of a taskloop included.
#pragma once

#include "openmp/cancel.h"
#include "openmp/gomp/gomp.h"
#include "openmp/task.h"

namespace weft::openmp::gomp {

// Copies the program's data to where the task keeps it.
using Copy = void (*)(void* to, void* from);

// Bits of `flags` (gcc's gomp-constants.h).
inline constexpr unsigned kFinal = 1u << 1;
inline constexpr unsigned kPriority = 1u << 4;

inline void run_task(Task* task) {
  if (!is_dropped(task)) task->function(task->data);
}

}  // namespace weft::openmp::gomp
