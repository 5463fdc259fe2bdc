// SPDX-License-Identifier: Apache-2.0
// Waiting inside a team: a member that waits runs the team's explicit tasks meanwhile, spins for a bounded
// time, then leaves its CPU.
#pragma once

#include "core/sched/scheduler.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_deque.h"
#include "openmp/team/team.h"

namespace weft::openmp {

// Runs one task of the team, its own last one or another member's first one. False when none was found.
bool run_any_task(Member* self) noexcept;

// A hint: some member's deque holds tasks.
bool tasks_in_sight(const Team* team) noexcept;

template <class Done>
void wait_helping(Member* self, Done&& done) noexcept {
  Team* team = self->team;
  const auto tasks = [&] { return team->tasked.load(std::memory_order_relaxed) && tasks_in_sight(team); };
  while (!done()) {
    if (team->tasked.load(std::memory_order_relaxed) && run_any_task(self)) continue;
    unsigned polls = 0;
    // Looking at the deques takes their lines from those who push: not at every poll.
    if (core::spin_until(self->context, [&] { return done() || (++polls % 8 == 0 && tasks()); })) continue;
    fall_asleep(self);
    core::block_unless([&] { return done() || tasks(); });
    if (wake_up(self)) answer_call(self, !done());
  }
}

}  // namespace weft::openmp
