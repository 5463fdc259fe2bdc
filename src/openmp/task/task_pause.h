// SPDX-License-Identifier: Apache-2.0
// Pauses of the caller's task, for interfaces that let programs pause tasks (weft/task.h, weft/alpi.h). Meanwhile
// others run the team's other tasks: see stand_in.h.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Says that tasks of the process may be paused. Best called before the first region with such tasks.
void let_tasks_pause() noexcept;

// The caller as a member whose context can wait. A thread that has not used OpenMP becomes one that has.
Member* member_to_pause() noexcept;

// Lets other work run before the caller goes on, if there is some. Returns whether there was.
bool yield_task(Member* self) noexcept;

// block_task() pauses the caller's task until unblock_task() is called for it. Each block_task() takes one
// unblock_task(), which may come before it or after.
void block_task(Member* self, Task* task) noexcept;
void unblock_task(Task* task) noexcept;

}  // namespace weft::openmp
