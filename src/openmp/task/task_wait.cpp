// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_wait.h"

#include <utility>

#include "core/api/budget.h"
#include "core/api/wait.h"
#include "openmp/record/record_cache.h"
#include "openmp/task/dependences.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task_pause.h"
#include "openmp/task/task_take.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// As await_descendants(), where tasks may be paused. A task that ran on top of the caller might be paused there, for a
// message that the caller itself is to send when its wait is over. So the caller runs those alone for which it waits:
// its children, in `group` if it waits for that. A stand-in runs all others.
template <class Done>
void await_with_stand_in(Member* self, Done&& done, void (*announce)(Member* self, bool waits),
                         const TaskGroup* group) noexcept {
  attach_to_pool(self);
  while (!done()) {
    // Where the system refuses threads there may be no stand-in.
    if (run_own_child(self, group) || (core::threads_refused() && run_permitted_task(self))) continue;
    // An agent's team has no deques.
    const bool may_run_some = defers_tasks(self->team) && tasks_in_sight(self->team);
    if (!may_run_some && core::spin_until(self->context, done)) return;
    announce(self, true);
    platform::full_fence();
    block_in_task_unless(self, done);
    announce(self, false);
  }
}

// Waits until done(): until descendants of the current task have ended; runs some of them meanwhile. announce(self,
// true) says that the member is about to sleep. In a large team a look at all deques costs more than a short task, and
// few deques have descendants. So there the member looks at the deque of the thief of a child, and in turn at some
// others. It looks at all deques before it sleeps, and when it is woken.
template <class Done>
void await_descendants(Member* self, Done&& done, void (*announce)(Member* self, bool waits),
                       const TaskGroup* group) noexcept {
  if (tasks_may_pause()) return await_with_stand_in(self, done, announce, group);
  const bool large = self->team->size >= kTracesFrom && !self->task->implicit;
  constexpr unsigned kPollsPerLook = 16;
  constexpr int kLooksInVain = 8;
  int looks = 0;
  bool woken = false;
  while (!done()) {
    const bool all = !large || std::exchange(woken, false);
    const Search where = all ? Search::everywhere : looks % 2 == 0 ? Search::at_thief : Search::in_some;
    if (run_own_task(self) || run_others_task(self, where)) {
      looks = 0;
      continue;
    }
    ++looks;
    unsigned polls = 0;
    const auto news = [&] {
      if (done()) return true;
      // The tasks that are in sight may be no descendants, and may stay there.
      if (!large || looks > kLooksInVain || ++polls % kPollsPerLook != 0) return false;
      if (self->team->tasks.inbox.size() > 0) return true;
      const TaskDeque* deque = deque_of_thief(self);
      return deque != nullptr && !deque->empty();
    };
    if (core::spin_until(self->context, news)) continue;
    announce(self, true);
    platform::full_fence();
    // Tasks may have been on their way from one deque to another (Waiters): so the member looks once more.
    if (!run_permitted_task(self)) block_in_task_unless(self, done);
    announce(self, false);
    woken = true;
    looks = 0;
  }
}

void tell_that_it_waits(Member* member, bool waits) noexcept {
  member->task->parent_waits.store(waits, std::memory_order_relaxed);
}

// Waits until the predecessors of `task`, children of the current task, have ended; helps to run them.
void await_predecessors(Member* self, Task* task) noexcept {
  const auto met = [task] { return task->unmet.load(std::memory_order_acquire) == 0; };
  if (!tasks_may_pause()) return await_descendants(self, met, tell_that_it_waits, nullptr);
  // No child is known to be one of the predecessors: see await_with_stand_in().
  attach_to_pool(self);
  while (!met()) {
    if (core::threads_refused() && run_permitted_task(self)) continue;
    if (!core::spin_until(self->context, met)) block_in_task_unless(self, met);
  }
}

}  // namespace

void link_and_wait(Member* self, Task* task, const Dependence* list, int count, bool keep) noexcept {
  // Set before the first predecessor can look: the last one unblocks this context instead of pushing the task.
  task->waiter.store(self->context, std::memory_order_release);
  if (!link_dependences(self->task, task, list, count, keep)) await_predecessors(self, task);
  task->waiter.store(nullptr, std::memory_order_relaxed);
}

void task_wait_for(Member* self, const Dependence* list, int count) noexcept {
  // A tool sees a wait even where there is no task to wait for.
  if (self->task->children == nullptr && !tool::is_on()) return;
  Task* empty = allocate_task(0, 1, nullptr);
  tool::begin_task_wait_for(self, empty, list, count);
  link_and_wait(self, empty, list, count, false);
  tool::end_task_wait_for(self, empty);
  free_task(empty);
}

void await_events(Member* self) noexcept {
  Team* team = self->team;
  const auto over = [team] { return team->tasks.detached.load(std::memory_order_acquire) == 0; };
  while (!over()) {
    if (run_permitted_task(self)) continue;
    if (core::spin_until(self->context, over)) break;
    team->tasks.event_waiter.store(self->context, std::memory_order_release);
    platform::full_fence();
    block_in_task_unless(self, over);
    team->tasks.event_waiter.store(nullptr, std::memory_order_relaxed);
  }
  while (team->tasks.helpers.load(std::memory_order_acquire) != 0) platform::pause();
  team->tasks.detachable.store(false, std::memory_order_relaxed);
}

void await_children(Member* self) noexcept {
  Task* now = self->task;
  const auto done = [now] { return children_left(now) == 0; };
  // Against complete(): a fence is between the flag and the count.
  await_descendants(self, done, tell_that_it_waits, nullptr);
  // No later task needs to wait for children that have ended.
  if (now->children != nullptr) now->children->clear();
}

void task_yield(Member* self, const void* caller) noexcept {
  if (tool::task_yield(self, caller)) return;
  yield_to_task(self);
}

void yield_to_task(Member* self) noexcept {
  const bool pauses = tasks_may_pause();
  // A task that ran on top of the caller might be paused, and the caller would wait for its message. So a stand-in runs
  // it, unless the system refuses threads.
  const bool runs_some = !pauses || core::threads_refused();
  const bool has_some = defers_tasks(self->team) && self->team->tasks.tasked.load(std::memory_order_relaxed);
  if (runs_some && has_some && run_permitted_task(self)) return;
  if (!pauses) {
    core::yield();
    return;
  }
  // The caller may look for something that a task does which does not descend from its own: a stand-in can run that
  // task.
  attach_to_pool(self);
  yield_task(self);
}

TaskGroup* make_group(TaskGroup* outer) noexcept {
  TaskGroup* group = take_group();
  group->outer = outer;
  group->cancelled.store(false, std::memory_order_relaxed);
  group->implied = false;
  group->counted = true;
  group->reduction_blocks = nullptr;
  group->reductions = nullptr;
  return group;
}

void open_taskgroup(Member* self) noexcept { self->task->group = make_group(self->task->group); }

void await_taskgroup(Member* self) noexcept {
  Task* now = self->task;
  TaskGroup* group = now->group;
  const auto done = [group] { return group->pending.load(std::memory_order_acquire) == 0; };
  // As in await_children(). Release: with the pointer comes what it points to.
  const auto announce = [](Member* member, bool waits) {
    member->task->group->waiter.store(waits ? member->context : nullptr, std::memory_order_release);
  };
  await_descendants(self, done, announce, group);
  now->group = group->outer;
  put_group(group);
}

}  // namespace weft::openmp
