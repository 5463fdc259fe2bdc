// SPDX-License-Identifier: Apache-2.0
// What GOMP's tasks have in common, those of a taskloop included.
#pragma once

#include "openmp/cancel.h"
#include "openmp/gomp/gomp.h"
#include "openmp/task.h"

namespace weft::openmp::gomp {

// Copies the program's data to where the task keeps it.
using Copy = void (*)(void* to, void* from);

// A bit of `flags` (gcc's gomp-constants.h).
inline constexpr unsigned kFinal = 1u << 1;

inline void run_task(Task* task) {
  if (!is_dropped(task)) task->function(task->data);
}

// A copy by constructors was made when the task was created, and only the task's own code destroys it: it is never
// dropped.
inline void run_copied_task(Task* task) { task->function(task->data); }

// What runs a task whose data have been copied so.
inline auto body_for(Copy copy) noexcept { return copy != nullptr ? run_copied_task : run_task; }

}  // namespace weft::openmp::gomp
