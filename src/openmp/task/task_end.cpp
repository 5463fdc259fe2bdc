// SPDX-License-Identifier: Apache-2.0
// The end of a task: its successors become ready, and its end is counted for its group, its parent and the team.
#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/task/dependences.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/own_number.h"
#include "openmp/task/spawned.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_run.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Publishes a task whose predecessors have all ended. `self`: the calling member, or null.
void make_ready(Member* self, Task* task) noexcept {
  Team* team = task->team;
  if (task->for_agents) {
    give_to_agents(task);
    return;
  }
  const bool inside = self != nullptr && self->team == team;
  // A thread outside of the team keeps the region from ending: it might end as soon as the task is there.
  if (!inside) team->tasks.helpers.fetch_add(1, std::memory_order_relaxed);
  if (!inside || goes_first(task) || !push_task(self, task)) team->tasks.inbox.put(task);
  call_to_tasks(team, inside ? self : nullptr);
  if (!inside) team->tasks.helpers.fetch_sub(1, std::memory_order_release);
}

void tell_group(TaskGroup* group, uint32_t ends) noexcept {
  if (!group->counted) return;
  // The group may end, and its record serve another group, as soon as the count is down; then the context in `waiter`
  // wakes for nothing. The waiting context writes `waiter`, fences, and looks at the count; this side counts, fences,
  // and looks at `waiter`: one of the two sees the other.
  if (group->pending.fetch_sub(static_cast<int>(ends)) == static_cast<int>(ends)) {
    platform::full_fence_after_update();
    if (core::Context* waiter = group->waiter.load(std::memory_order_acquire)) core::unblock(waiter);
  }
}

void tell_parent(Task* parent, uint32_t ends) noexcept {
  // The parent may be freed as soon as the ends are counted, so its context is read before. `parent_waits` is read
  // after, from memory that stays a task; a wrong value wakes a context for nothing.
  core::Context* waiter = parent->context;
  if (parent->done_remote.fetch_add(static_cast<int32_t>(ends)) + static_cast<int32_t>(ends) == 0) {
    free_task(parent);
  } else {
    platform::full_fence_after_update();
    if (parent->parent_waits.load(std::memory_order_relaxed)) core::unblock(waiter);
  }
}

bool runs_here(const Member* self, const Task* parent) noexcept {
  return parent->context == self->context && !parent->ended.load(std::memory_order_relaxed);
}

// Counts the end of the task for its group and its parent, and makes its successors ready. `self`: as above.
void complete(Member* self, Task* task) noexcept {
  Task* parent = task->parent.load(std::memory_order_relaxed);
  release_successors(task, [self](Task* successor) { make_ready(self, successor); });
  if (task->group != nullptr) tell_group(task->group, 1);
  if (self != nullptr && runs_here(self, parent)) {
    ++parent->done_here;
  } else {
    tell_parent(parent, 1);
  }
}

// The same, but the member counts the end for itself, with those before (tell_ends()).
void complete_later(Member* self, Task* task) noexcept {
  Task* parent = task->parent.load(std::memory_order_relaxed);
  UncountedEnds& ends = self->uncounted_ends;
  // A parent whose children are counted in `ends` lasts, and its context stays the same.
  if (ends.children == 0 && runs_here(self, parent)) {
    complete(self, task);
    return;
  }
  ends.parent = parent;
  ends.group = task->group;
  ++ends.children;
}

// Counts events that have come; the team's barriers wait for them.
void close_events(Team* team, int count) noexcept {
  // Without a helper the region might end, and its record serve another one, as soon as the count is down.
  team->tasks.helpers.fetch_add(1, std::memory_order_relaxed);
  const bool last = team->tasks.detached.fetch_sub(count) == count;
  platform::full_fence_after_update();
  if (!last) {
    // Contexts wait for the last event only.
  } else if (defers_tasks(team)) {
    wake_sleepers(team);
  } else if (core::Context* waiter = team->tasks.event_waiter.load(std::memory_order_acquire)) {
    core::unblock(waiter);
  }
  // Release: pairs with the looks at the count by the member that ends the region.
  team->tasks.helpers.fetch_sub(1, std::memory_order_release);
}

// Ends a detachable task: its body has ended, and its event has come.
void complete_detached(Member* self, Task* task) noexcept {
  const bool spawned = is_spawned(task);
  Team* team = task->team;
  tool::complete_detached(task);
  if (spawned) {
    report_completion(task);
  } else {
    complete(self, task);
  }
  if (task->done_remote.fetch_add(1, std::memory_order_acq_rel) + 1 == 0) free_task(task);
  if (!spawned) close_events(team, 1);
}

// How much of `open` is not events while the body runs: 1 for the end of the body, and 1 for what an agent does after
// it.
int own_share(const Task* task) noexcept { return task->implicit ? 0 : 1 + (task->for_agents ? 1 : 0); }

}  // namespace

void await_own_events(Member* self, Task* task) noexcept {
  const auto come = [task] { return !expects_events(task); };
  if (core::spin_until(self->context, come)) return;
  const Absence absence(self);
  // Pairs with events_come(): this side writes `waiter`, fences, and looks at the count; that side counts, fences, and
  // looks at `waiter`.
  task->waiter.store(self->context, std::memory_order_release);
  platform::full_fence();
  while (!come()) block_between_tasks(self);
  task->waiter.store(nullptr, std::memory_order_relaxed);
}

Waiters waiters_for(const Task* task) noexcept {
  const Task* parent = task->parent.load(std::memory_order_relaxed);
  return {parent, has_implicit_parent(task) ? nullptr : parent->context, task->group};
}

void wake(const Waiters& waiters) noexcept {
  if (waiters.parent->parent_waits.load(std::memory_order_relaxed))
    core::unblock(waiters.context != nullptr ? waiters.context : waiters.parent->context);
  if (waiters.group == nullptr) return;
  // Acquire: with the pointer comes what it points to.
  if (core::Context* waiter = waiters.group->waiter.load(std::memory_order_acquire)) core::unblock(waiter);
}

void tell_ends_to_parent(Member* self) noexcept {
  UncountedEnds& ends = self->uncounted_ends;
  const uint32_t children = std::exchange(ends.children, 0);
  if (ends.group != nullptr) tell_group(ends.group, children);
  tell_parent(ends.parent, children);
}

void end_task(Member* self, Task* task, Telling telling) noexcept {
  // The parent of an undeferred task goes on when the task has ended: so the task waits for its own events.
  if (__builtin_expect(task->waits_for_events, 0)) await_own_events(self, task);
  // In this order: a signal handler that asks for the thread number asks for this task, before it ends, or for none.
  *const_cast<Task* volatile*>(&self->task) = nullptr;
  if (__builtin_expect(*const_cast<volatile bool*>(&task->uses_number), 0)) release_number(self);
  if (task->children != nullptr) task->children->clear();
  const bool detachable = task->open.load(std::memory_order_relaxed) != 0;
  // The end of a task that others depend on is told at once: a waiting context may run what it has made ready.
  const bool later = telling == Telling::later && !task->linked;
  if (!detachable) later ? complete_later(self, task) : complete(self, task);
  // A detachable task counts its event as one more child, so that its record lasts.
  const auto outstanding = static_cast<int32_t>(task->created - task->done_here) + (detachable ? 1 : 0);
  if (outstanding == 0) {
    free_task(task);
    return;
  }
  task->ended.store(true, std::memory_order_release);
  // Acquire and release: the thread that frees the task comes after all that touched it.
  if (task->done_remote.fetch_sub(outstanding, std::memory_order_acq_rel) == outstanding) free_task(task);
  if (detachable && task->open.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_detached(self, task);
}

void run_given(Member* agent, Task* task) noexcept {
  run_task(agent, task);
  if (task->open.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_detached(nullptr, task);
}

void fulfill_event(Task* task) noexcept {
  core::note_arrival();
  tool::fulfill(task);
  if (task->open.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_detached(nullptr, task);
}

void expect_events(Member* self, Task* task, int events) noexcept {
  if (task->implicit) {
    task->team = self->team;
    open_events(self, task->team, events);
  } else if (task->open.load(std::memory_order_relaxed) == 0) {
    // 1 stands for the end of the body, which runs.
    task->open.store(1, std::memory_order_relaxed);
    task->team = const_cast<Team*>(self->team->agent_of != nullptr ? self->team->agent_of : self->team);
    open_events(self, task->team);
    task->waits_for_events = task->undeferred;
  }
  task->open.fetch_add(events, std::memory_order_relaxed);
}

void events_come(Task* task, int events) noexcept {
  core::note_arrival();
  // These are read before the count: the task may be gone as soon as the events are counted. `waiter` is read after it,
  // from memory that stays a task; if it is another task's by then, a context wakes for nothing.
  const bool implicit = task->implicit;
  Team* team = task->team;
  const int share = own_share(task);
  const int left = task->open.fetch_sub(events, std::memory_order_acq_rel) - events;
  if (implicit) {
    close_events(team, events);
  } else if (left == 0) {
    complete_detached(nullptr, task);
  } else if (left == share) {
    platform::full_fence_after_update();
    if (core::Context* waiter = task->waiter.load(std::memory_order_acquire)) core::unblock(waiter);
  }
}

bool expects_events(const Task* task) noexcept { return task->open.load(std::memory_order_acquire) > own_share(task); }

}  // namespace weft::openmp
