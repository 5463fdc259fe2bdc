// SPDX-License-Identifier: Apache-2.0
// What GOMP's tasks have in common, those of a taskloop included.
#pragma once

#include "base/small_list.h"
#include "openmp/gomp/gomp.h"
#include "openmp/task/dependences.h"
#include "openmp/task/task.h"
#include "openmp/team/cancel.h"

namespace weft::openmp::gomp {

// Copies the program's data to where the task keeps it.
using Copy = void (*)(void* to, void* from);

// Bits of `flags` (gcc's gomp-constants.h).
inline constexpr unsigned kFinal = 1u << 1;
inline constexpr unsigned kPriority = 1u << 4;

using Dependences = base::SmallList<Dependence, 8>;

// A depend object (omp_depend_t), and an entry that says its kind itself.
struct DependObject {
  void* location;
  uintptr_t kind;
};
Dependence dependence_of(const DependObject& object) noexcept;

// What `depend` points to, in the layouts that the compilers have used. The caller frees the list's memory.
Dependences read_dependences(void** depend) noexcept;

inline void run_task(Task* task) {
  if (is_dropped(task)) {
    tool::discard(task);
    return;
  }
  task->function(task->data);
}

// A copy by constructors was made when the task was created, and only the task's own code destroys it: it is never
// dropped.
inline void run_copied_task(Task* task) { task->function(task->data); }

// What runs a task whose data have been copied so.
inline auto body_for(Copy copy) noexcept { return copy != nullptr ? run_copied_task : run_task; }

}  // namespace weft::openmp::gomp
