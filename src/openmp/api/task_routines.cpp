// SPDX-License-Identifier: Apache-2.0
// The routines of tasks and of their events (OpenMP 5.2, sections 18.5 and 18.11).
#include "base/options.h"
#include "openmp/api/fortran.h"
#include "openmp/record/team.h"
#include "openmp/task/task.h"
#include "openmp/tool/entry.h"

using namespace weft;
using namespace weft::openmp;

WEFT_ROUTINE_GET(int, omp_in_final, self()->task->final ? 1 : 0);
WEFT_ROUTINE_GET(int, omp_get_max_task_priority, base::options().max_task_priority);

// A handle is the task whose event it is, in both ABIs.
WEFT_ABI(void, omp_fulfill_event)(uintptr_t event) {
  const tool::Entry entry(WEFT_CALLER);
  fulfill_event(reinterpret_cast<Task*>(event));
}

// Fortran passes it by value too.
WEFT_ABI(void, omp_fulfill_event_)(uintptr_t event) {
  const tool::Entry entry(WEFT_CALLER);
  fulfill_event(reinterpret_cast<Task*>(event));
}
