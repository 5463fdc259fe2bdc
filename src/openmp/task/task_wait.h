// SPDX-License-Identifier: Apache-2.0
// Waiting inside a team: a member that waits runs the team's explicit tasks meanwhile, spins for a bounded
// time, then leaves its CPU.
#pragma once

#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_run.h"
#include "openmp/task/task_take.h"

namespace weft::openmp {

// Links `task` to the tasks that it depends on, and waits until these have ended. For a task that its creator runs at
// once, and for one that stands for a wait (taskwait depend).
void link_and_wait(Member* self, Task* task, const Dependence* list, int count, bool keep) noexcept;

// Waits until done(); runs the team's tasks meanwhile.
template <class Done>
void wait_helping(Member* self, Done&& done) noexcept {
  Team* team = self->team;
  const auto tasks = [&] { return team->tasks.tasked.load(std::memory_order_relaxed) && tasks_in_sight(team); };
  while (!done()) {
    if (team->tasks.tasked.load(std::memory_order_relaxed) && run_any_task(self)) continue;
    unsigned polls = 0;
    // Looking at the deques takes their lines from the members that push: not at every poll.
    if (core::spin_until(self->context, [&] { return done() || (++polls % 8 == 0 && tasks()); })) continue;
    fall_asleep(self);
    block_in_team_unless(self, [&] { return done() || tasks(); });
    if (wake_up(self)) answer_call(self, !done());
  }
  tell_ends(self);
}

}  // namespace weft::openmp
