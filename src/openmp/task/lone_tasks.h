// SPDX-License-Identifier: Apache-2.0
// Tasks of teams of one member. They are run when they are created, as a rule: nobody else would. Where tasks may be
// paused that could stop the program: the task that sends a message may come after the one that waits for it. So there
// such a team defers its tasks from the first one on. Its member runs them where it waits, and at the end of the
// region. Outside of all regions that is the end of the thread, or of the process.
//
// A free agent's team does not: tasks that its task creates are given to other agents.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// The caller is about to create a task. In the team's first one.
void begin_to_defer(Member* self) noexcept;
inline void defer_where_alone(Member* self) noexcept {
  if (tasks_may_pause() && !defers_tasks(self->team)) begin_to_defer(self);
}

// Of a team of one: all tasks end.
void end_deferring(Member* self) noexcept;

}  // namespace weft::openmp
