// SPDX-License-Identifier: Apache-2.0
// Tasks of teams of one member. As a rule such a task runs when it is created: no other member could run it. Where
// tasks may be paused, that could stop the program: the task that sends a message may be created after the task that
// waits for it. So there a team of one defers its tasks, from the first one on. Its member runs them where it waits,
// and at the end of the region; outside of all regions, at the end of the thread or of the process.
//
// A free agent's team does not defer: tasks that its task creates are given to other agents.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Makes the caller's team defer its tasks, if it can. Called when the team's first task is about to be created.
void begin_to_defer(Member* self) noexcept;
inline void defer_where_alone(Member* self) noexcept {
  if (tasks_may_pause() && !defers_tasks(self->team)) begin_to_defer(self);
}

// Runs the tasks that are left of a team of one that defers; from now on it defers no more.
void end_deferring(Member* self) noexcept;

}  // namespace weft::openmp
