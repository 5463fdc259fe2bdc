// SPDX-License-Identifier: Apache-2.0
// Pauses of the caller's task, for interfaces that let programs pause tasks (weft/task.h, weft/alpi.h). Whoever would
// run the team's other tasks meanwhile does: see stand_in.h.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Says that tasks of the process may be paused: before the regions whose tasks are, best.
void let_tasks_pause() noexcept;

// The caller, whose context can wait; a thread that has not used OpenMP becomes one that has.
Member* member_to_pause() noexcept;

// Lets other work run before the caller goes on, if there is some: true if there was.
bool yield_task(Member* self) noexcept;

// Pauses the caller's task until unblock_task() comes for it; once for each block_task(), before or after.
void block_task(Member* self, Task* task) noexcept;
void unblock_task(Task* task) noexcept;

}  // namespace weft::openmp
