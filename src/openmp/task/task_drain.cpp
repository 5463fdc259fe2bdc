// SPDX-License-Identifier: Apache-2.0
// Where a team's tasks come to an end: at barriers and at the end of the region.
#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/task/dependences.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_run.h"
#include "openmp/task/task_take.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

template <class Done>
void drain(Member* self, Done&& done) noexcept {
  Team* team = self->team;
  const auto news = [&] { return done() || tasks_in_sight(team) || all_executed(team); };
  while (!done()) {
    if (run_any_task(self)) continue;
    if (all_executed(team)) return;
    if (core::spin_until(self->context, news)) continue;
    fall_asleep(self);
    block_in_team_unless(self, news);
    if (wake_up(self)) answer_call(self, !done());
  }
  tell_ends(self);
}

}  // namespace

void drain_at_barrier(Member* self) noexcept {
  Team* team = self->team;
  const uint32_t number = self->barriers;
  // `drained` says that another member has seen all tasks before the barrier end. Tasks that a faster member has pushed
  // behind the barrier are not waited for.
  const auto drained = [&] {
    return static_cast<int32_t>(team->tasks.drained.load(std::memory_order_acquire) - number) >= 0;
  };
  // In a cancelled region the primary alone waits for what still runs, at the end. Relaxed: members that sleep are
  // woken and see it (cancel.cpp).
  const auto cancelled = [team] { return team->cancelled.load(std::memory_order_relaxed); };
  drain(self, [&] { return drained() || cancelled(); });
  if (cancelled()) return;
  if (self->implicit.children != nullptr) self->implicit.children->clear();
  if (drained()) return;
  team->tasks.drained.store(number, std::memory_order_release);
  platform::full_fence();
  wake_sleepers(team);
}

void drain_at_end(Member* primary) noexcept {
  Team* team = primary->team;
  drain(primary, [] { return false; });
  // Helpers that come later see that there is nothing to help with: flag and count, with a fence between on both
  // sides. Acquire: what a helper has done is seen.
  team->tasks.tasked.store(false, std::memory_order_relaxed);
  platform::full_fence();
  while (team->tasks.helpers.load(std::memory_order_acquire) != 0) {
    if (!core::yield()) platform::pause();
  }
  for (int i = 0; i < team->size; ++i) {
    if (TaskDeque* deque = deque_at(team, i)) {
      deque->created.store(0, std::memory_order_relaxed);
      deque->executed.store(0, std::memory_order_relaxed);
    }
  }
  for (int i = 0; i < DequeMarks::groups(team->size); ++i)
    team->members.marks[i].members.store(0, std::memory_order_relaxed);
  team->tasks.created.store(0, std::memory_order_relaxed);
  team->tasks.executed.store(0, std::memory_order_relaxed);
  close_calls(team);
  // The next region of this record counts barriers on from here.
  team->tasks.drained.store(primary->barriers, std::memory_order_relaxed);
  team->tasks.closing.store(false, std::memory_order_relaxed);
  team->tasks.detachable.store(false, std::memory_order_relaxed);
}

void help_with_tasks(Member* self) noexcept {
  while (run_any_task(self)) {
  }
}

namespace {

// help_with_tasks() by a member that may have been recalled before it went off call.
void help_and_answer(Member* self) noexcept {
  do {
    answer_recall(self);
  } while (run_any_task(self));
}

// The primary may sleep until the last task has ended, and the caller may have run that task. With the fence, one of
// two members that finish at the same time sees what both have executed.
void wake_primary_at_end(Team* team) noexcept {
  platform::full_fence();
  const bool sleeps = team->members.lines[0].sleeper.load(std::memory_order_relaxed) != nullptr;
  if (sleeps && all_executed(team)) wake_sleepers(team);
}

}  // namespace

void linger(Member* self, Lingers until) noexcept {
  Team* team = self->team;
  team->tasks.helpers.fetch_add(1);
  platform::full_fence_after_update();
  // From here to the end of the count the primary cannot finish a region that has tasks, so the team stays as
  // it is. A nudge may come so late that the region is another one, of a team this member does not belong to.
  // Acquire: the flag is that region's, so its size is seen.
  if (team->tasks.tasked.load(std::memory_order_acquire) && self->number < team->size) {
    go_off_call(self);
    const auto over = [&] {
      return until == Lingers::until_closing ? team->tasks.closing.load(std::memory_order_relaxed)
                                             : !team->tasks.tasked.load(std::memory_order_relaxed);
    };
    const auto news = [&] { return tasks_in_sight(team) || over(); };
    for (;;) {
      do {
        help_and_answer(self);
        wake_primary_at_end(team);
      } while (!over() && core::spin_until(self->context, news));
      core::pass_call_on();
      go_on_call(self);
      // A task may have come just before. The member goes off call to run it: a call to a member that runs a task is
      // answered only when that task has ended, and no other member is called until then.
      if (!tasks_in_sight(team)) break;
      go_off_call(self);
    }
  }
  // Release: against the primary's look at the count.
  team->tasks.helpers.fetch_sub(1, std::memory_order_release);
}

}  // namespace weft::openmp
