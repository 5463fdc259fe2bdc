// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task.h"

#include <algorithm>
#include <new>

#include "base/message.h"
#include "base/options.h"
#include "core/sched/persistent_team.h"
#include "core/sched/scheduler.h"
#include "openmp/ompt/events.h"
#include "openmp/settings/startup.h"
#include "openmp/task/dependences.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_pool.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/record_cache.h"
#include "openmp/team/team.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

TaskDeque* deque_of(Member* self) noexcept {
  if (self->deque == nullptr) {
    auto& slot = self->team->deques.load(std::memory_order_relaxed)[self->number];
    TaskDeque* deque = slot.load(std::memory_order_relaxed);
    if (deque == nullptr) {
      deque = new (std::nothrow) TaskDeque;
      if (deque == nullptr) base::lacking("no memory for explicit tasks");
      slot.store(deque, std::memory_order_release);
    }
    self->deque = deque;
  }
  return self->deque;
}

TaskDeque* deque_at(const Team* team, int number) noexcept {
  return team->deques.load(std::memory_order_relaxed)[number].load(std::memory_order_acquire);
}

void prepare(Member* self, Task* task, bool final) noexcept {
  Task* parent = self->task;
  if (parent->icvs == &parent->own_icvs) {
    task->own_icvs = parent->own_icvs;
    task->icvs = &task->own_icvs;
  } else {
    task->icvs = parent->icvs;
  }
  task->parent.store(parent, std::memory_order_relaxed);
  task->depth.store(parent->depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  task->ended.store(false, std::memory_order_relaxed);
  task->final = final;
  task->for_agents = false;
  task->group = parent->group;
  task->created = 0;
  task->done_here = 0;
  task->done_remote.store(0, std::memory_order_relaxed);
  ++parent->created;
  if (task->group != nullptr) task->group->pending.fetch_add(1, std::memory_order_relaxed);
}

void start(Member* self, Task* task) noexcept {
  task->context = self->context;
  task->floor = self->deque != nullptr ? self->deque->bottom.load(std::memory_order_relaxed) : 0;
  self->task = task;
}

// ---- priorities ----

// Where OMP_MAX_TASK_PRIORITY, 0 by default, allows none, nobody looks for them.
int highest_priority() noexcept {
  static const int value = base::options().max_task_priority;
  return value;
}

bool goes_first(const Task* task) noexcept { return task->priority > 0; }

// Posting looks for the task's place in the inbox: among more tasks than this priorities count no more.
constexpr int kMostOrdered = 1024;

bool is_ordered(const Team* team) noexcept { return team->waiting.load(std::memory_order_relaxed) < kMostOrdered; }

// ---- the end of a task ----

// To the inbox of the team: by a thread that has no deque there, or none with room, or for the task's priority.
void post(Team* team, Task* task) noexcept {
  team->inbox_lock.lock();
  Task* before = team->inbox_last;
  if (before != nullptr && before->priority < task->priority) {
    before = nullptr;
    for (Task* at = team->inbox_first; at->priority >= task->priority; at = at->next_free) before = at;
  }
  Task*& link = before != nullptr ? before->next_free : team->inbox_first;
  task->next_free = link;
  link = task;
  if (task->next_free == nullptr) team->inbox_last = task;
  team->waiting.store(team->waiting.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  team->inbox_lock.unlock();
}

// Nothing stands between `task` and its start any more. `self`: the caller, if it is a member of some team.
void make_ready(Member* self, Task* task) noexcept {
  Team* team = task->team;
  if (task->for_agents) {
    give_to_agents(task);
    return;
  }
  const bool inside = self != nullptr && self->team == team;
  // Whoever is not of the team keeps the region from ending: it might, as soon as the task is there.
  if (!inside) team->helpers.fetch_add(1, std::memory_order_relaxed);
  if (!inside || goes_first(task) || !deque_of(self)->push(task)) post(team, task);
  call_to_tasks(team, inside ? self->number : -1);
  if (!inside) team->helpers.fetch_sub(1, std::memory_order_release);
}

// Tells those that wait for the task: its group, its parent, its successors. `self` as above.
void complete(Member* self, Task* task) noexcept {
  Task* parent = task->parent.load(std::memory_order_relaxed);
  release_successors(task, [self](Task* successor) { make_ready(self, successor); });
  if (TaskGroup* group = task->group) {
    // The group may end, and its record serve again, as soon as the count is down; if so, whom it names
    // is woken for nothing. Count and `waiter` with fences between: one of the two sees the other.
    if (group->pending.fetch_sub(1) == 1) {
      platform::full_fence_after_update();
      if (core::Context* waiter = group->waiter.load(std::memory_order_acquire)) core::unblock(waiter);
    }
  }
  if (self != nullptr && parent->context == self->context && !parent->ended.load(std::memory_order_relaxed)) {
    ++parent->done_here;
    return;
  }
  // The parent may be freed as soon as it is counted: what is needed of it is read before. Its flag is
  // read after, from memory that stays a task; a wrong guess wakes somebody for nothing.
  core::Context* waiter = parent->context;
  if (parent->done_remote.fetch_add(1) + 1 == 0) {
    free_task(parent);
  } else {
    platform::full_fence_after_update();
    if (parent->parent_waits.load(std::memory_order_relaxed)) core::unblock(waiter);
  }
}

// The body and the event of a detachable task are both over.
void complete_detached(Member* self, Task* task) noexcept {
  Team* team = task->team;
  if (ompt::on()) ompt::complete_detached(task);
  complete(self, task);
  if (task->done_remote.fetch_add(1, std::memory_order_acq_rel) + 1 == 0) free_task(task);
  // Without this the region might end, and the record serve another, as soon as the count of tasks is down.
  team->helpers.fetch_add(1, std::memory_order_relaxed);
  const bool last = team->detached.fetch_sub(1) == 1;
  platform::full_fence_after_update();
  if (!last) {
    // Nobody waits for fewer of them.
  } else if (team->size > 1) {
    wake_sleepers(team);
  } else if (core::Context* waiter = team->event_waiter.load(std::memory_order_acquire)) {
    core::unblock(waiter);
  }
  // Release: against the looks at the count of who ends the region.
  team->helpers.fetch_sub(1, std::memory_order_release);
}

void end(Member* self, Task* task) noexcept {
  self->task = nullptr;
  if (task->children != nullptr) task->children->clear();
  const bool detachable = task->open.load(std::memory_order_relaxed) != 0;
  if (!detachable) complete(self, task);
  // A detachable task counts its event as one more child, so that its record lasts.
  const auto outstanding = static_cast<int32_t>(task->created - task->done_here) + (detachable ? 1 : 0);
  if (outstanding == 0) {
    free_task(task);
    return;
  }
  task->ended.store(true, std::memory_order_release);
  // Acquire and release: whoever frees the task comes after all that touched it.
  if (task->done_remote.fetch_sub(outstanding, std::memory_order_acq_rel) == outstanding) free_task(task);
  if (detachable && task->open.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_detached(self, task);
}

void run(Member* self, Task* task) noexcept {
  Task* previous = self->task;
  start(self, task);
  task->body(task);  // with a tool: ompt::run_told()
  end(self, task);
  self->task = previous;
}

void run_pushed(Member* self, Task* task) noexcept {
  TaskDeque* deque = deque_of(self);
  run(self, task);
  deque->executed.store(deque->executed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

bool all_executed(const Team* team) noexcept {
  // Executed first: the sums only grow, so if they are equal they were equal at a time between.
  uint64_t executed = 0;
  uint64_t created = 0;
  for (int i = 0; i < team->size; ++i) {
    if (const TaskDeque* deque = deque_at(team, i)) executed += deque->executed.load(std::memory_order_acquire);
  }
  for (int i = 0; i < team->size; ++i) {
    if (const TaskDeque* deque = deque_at(team, i)) created += deque->created.load(std::memory_order_acquire);
  }
  return executed == created && team->detached.load(std::memory_order_acquire) == 0;
}

// Whether `task` descends from `ancestor`, which is running. Looks at tasks that may end meanwhile: a task
// that has not ended keeps its parent, so each step is checked after it was taken. "No" may be wrong.
bool descends(const Task* task, const Task* ancestor) noexcept {
  const int depth = ancestor->depth.load(std::memory_order_relaxed);
  const Task* at = task;
  while (at->depth.load(std::memory_order_relaxed) > depth) {
    const Task* parent = at->parent.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);  // the parent first, then whether that was in time
    if (at != task && at->ended.load(std::memory_order_acquire)) return false;
    if (parent == ancestor) return true;
    if (parent == nullptr) return false;
    at = parent;
  }
  return false;
}

template <class Wanted>
Task* take_posted(Team* team, Wanted&& wanted) noexcept {
  team->inbox_lock.lock();
  Task* previous = nullptr;
  Task* task = team->inbox_first;
  while (task != nullptr && !wanted(task)) {
    previous = task;
    task = task->next_free;
  }
  if (task != nullptr) {
    (previous != nullptr ? previous->next_free : team->inbox_first) = task->next_free;
    if (team->inbox_last == task) team->inbox_last = previous;
    team->waiting.store(team->waiting.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  team->inbox_lock.unlock();
  return task;
}

// One with a priority, if there are some.
template <class Wanted>
Task* take_urgent(Team* team, Wanted&& wanted) noexcept {
  if (highest_priority() == 0 || team->waiting.load(std::memory_order_relaxed) == 0) return nullptr;
  return take_posted(team, [&wanted](const Task* task) { return goes_first(task) && wanted(task); });
}

template <class Wanted>
Task* steal(Member* self, Wanted&& wanted) noexcept {
  const Team* team = self->team;
  for (int i = 1; i < team->size; ++i) {
    const int victim = self->number + i < team->size ? self->number + i : self->number + i - team->size;
    TaskDeque* deque = deque_at(team, victim);
    if (deque == nullptr || deque->empty()) continue;
    if (Task* task = deque->steal(wanted)) return task;
  }
  return self->team->waiting.load(std::memory_order_relaxed) > 0 ? take_posted(self->team, wanted) : nullptr;
}

// The same of tasks that wait for a free agent.
bool run_given_task(Member* self) noexcept {
  const auto permitted = [](const Task* task, const Member* by) {
    return by->task->implicit ? task->team == by->team : descends(task, by->task);
  };
  Task* task = take_given(permitted, self);
  if (task == nullptr) return false;
  run_given(self, task);
  return true;
}

// A task that may run on top of the current one: a descendant of it (OpenMP 5.2, 12.9: the task scheduling
// constraint), or any when only the implicit task lies below.
bool run_permitted_task(Member* self) noexcept {
  Task* now = self->task;
  Task* task = take_urgent(self->team, [now](const Task* other) { return now->implicit || descends(other, now); });
  if (task == nullptr && self->deque != nullptr) task = self->deque->pop(now->floor);
  if (task == nullptr) {
    task = now->implicit ? steal(self, [](const Task*) { return true; })
                         : steal(self, [now](const Task* other) { return descends(other, now); });
  }
  if (task == nullptr) return run_given_task(self);
  run_pushed(self, task);
  return true;
}

// The first task of a region: members that sleep in the queue, or have finished, know of none yet.
void announce_tasks(Member* self) noexcept {
  Team* team = self->team;
  if (!team->tasked.exchange(true)) {
    // Nothing was there to be drained at the barriers that this member has passed. A member that is still behind the
    // last of them sees the flag that others have not seen, and must not wait for tasks that are created only now.
    team->drained.store(self->barriers, std::memory_order_release);
    // Against fall_asleep().
    platform::full_fence();
    open_calls(team);
    team->queue.release();
    // The primary may wait for the end of the others already.
    if (team->persistent_team != nullptr) {
      team->persistent_team->call_owner();
    } else if (core::Context* sleeper = team->sleeper.load(std::memory_order_acquire)) {
      core::unblock(sleeper);
    }
  }
}

}  // namespace

bool tasks_in_sight(const Team* team) noexcept {
  for (int i = 0; i < team->size; ++i) {
    const TaskDeque* deque = deque_at(team, i);
    if (deque != nullptr && !deque->empty()) return true;
  }
  return team->waiting.load(std::memory_order_relaxed) > 0;
}

bool run_any_task(Member* self) noexcept {
  Task* task = take_urgent(self->team, [](const Task*) { return true; });
  if (task == nullptr && self->deque != nullptr) task = self->deque->pop(INT64_MIN);
  if (task == nullptr) task = steal(self, [](const Task*) { return true; });
  if (task == nullptr) return false;
  run_pushed(self, task);
  return true;
}

namespace {

// Leaves to others, and helps them, until the predecessors of `task` have ended.
void await_predecessors(Member* self, Task* task) noexcept {
  const auto met = [task] { return task->unmet.load(std::memory_order_acquire) == 0; };
  while (!met()) {
    if (run_permitted_task(self)) continue;
    if (core::spin_until(self->context, met)) break;
    block_between_tasks(self);
  }
}

// Links a task that its creator runs, or that stands for a wait; returns when it has nobody to wait for.
void link_and_wait(Member* self, Task* task, const Dependence* list, int count, bool keep) noexcept {
  // Set before the first predecessor can look: it unblocks this context instead of pushing the task.
  task->waiter.store(self->context, std::memory_order_release);
  if (!link_dependences(self->task, task, list, count, keep)) await_predecessors(self, task);
  task->waiter.store(nullptr, std::memory_order_relaxed);
}

// In a thread that has opened no region of several members yet: makes it one of the pool's, so that it can wait.
void attach(Member* self) noexcept {
  start_runtime();
  core::Context* context = core::attach();
  if (self->context == context) return;
  for (Member* member = self; member != nullptr; member = member->outer) {
    member->context = context;
    member->implicit.context = context;
    for (Task* task = member->task; task != nullptr && !task->implicit; task = task->parent) task->context = context;
  }
}

void open_event(Member* self, Team* team) noexcept {
  attach(self);
  team->detached.fetch_add(1, std::memory_order_relaxed);
  team->detachable.store(true, std::memory_order_relaxed);
  // However the task runs, the barriers of the team wait for its end.
  if (self->team == team && team->size > 1 && !team->tasked.load(std::memory_order_relaxed)) announce_tasks(self);
}

// Copies of reduced variables are kept for the members of a team.
bool reduces(const Task* task) noexcept {
  for (const TaskGroup* group = task->group; group != nullptr; group = group->outer) {
    if (group->reduction_blocks != nullptr || group->reductions != nullptr) return true;
  }
  return false;
}

// What the task's end does beside that of its body counts as an event of it: the team's barriers wait for that.
void submit_to_agents(Member* self, Task* task, const TaskClauses& clauses) noexcept {
  Team* team = const_cast<Team*>(self->team->agent_of != nullptr ? self->team->agent_of : self->team);
  task->for_agents = true;
  task->team = team;
  if (clauses.detachable) {
    // The event may be fulfilled already. Relaxed: the task is nobody else's yet but for that count.
    task->open.fetch_add(1, std::memory_order_relaxed);
  } else {
    task->open.store(2, std::memory_order_relaxed);  // the end of the body, and the agent
  }
  open_event(self, team);
  if (self->context->home != nullptr) {
    // The root works beside the agents: it needs a CPU of its own.
    core::enter_region(self->context, 1);
    core::leave_region(self->context);
  }
  if (clauses.dependence_count > 0 &&
      !link_dependences(self->task, task, clauses.dependences, clauses.dependence_count, true)) {
    return;
  }
  give_to_agents(task);
}

}  // namespace

void run_given(Member* agent, Task* task) noexcept {
  run(agent, task);
  if (task->open.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_detached(nullptr, task);
}

bool runs_at_once(const Member* self, bool deferred) noexcept {
  return !deferred || self->team->size == 1 || self->task->final || (self->deque != nullptr && self->deque->full());
}

void dispatch_task(Member* self, Task* task, const TaskClauses& clauses) noexcept {
  Team* team = self->team;
  prepare(self, task, clauses.final || self->task->final);
  task->priority = std::min(clauses.priority, highest_priority());
  if (clauses.free_agents && clauses.deferred && !task->final && agents_may_help(self) && !reduces(task)) {
    submit_to_agents(self, task, clauses);
    return;
  }
  if (clauses.detachable) open_event(self, team);
  if (clauses.detachable || clauses.dependence_count > 0) task->team = team;
  const bool deferred = clauses.deferred && team->size > 1 && !self->task->final;
  // Where every task runs when it is created, only detachable ones can be waited for.
  const bool linked = clauses.dependence_count > 0 &&
                      ((team->size > 1 && !self->task->final) || team->detachable.load(std::memory_order_relaxed));
  if (!deferred) {
    if (linked) link_and_wait(self, task, clauses.dependences, clauses.dependence_count, true);
    run(self, task);
    return;
  }
  if (!team->tasked.load(std::memory_order_relaxed)) announce_tasks(self);
  TaskDeque* deque = deque_of(self);
  deque->count_created();
  if (linked && !link_dependences(self->task, task, clauses.dependences, clauses.dependence_count, true)) return;
  if (goes_first(task) && is_ordered(team)) {
    post(team, task);
    call_to_tasks(team, self->number);
  } else if (deque->push(task)) {
    call_to_tasks(team, self->number);
  } else {
    run_pushed(self, task);
  }
}

void submit_empty_task(Member* self, const Dependence* list, int count) noexcept {
  Task* task = allocate_task(0, 1, nullptr);
  task->body = [](Task*) {};
  submit_task(self, task, {.dependences = list, .dependence_count = count});
}

void fulfill_event(Task* task) noexcept {
  if (ompt::on()) ompt::fulfill(task);
  if (task->open.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_detached(nullptr, task);
}

void task_wait_for(Member* self, const Dependence* list, int count) noexcept {
  // To a tool it is a wait even where there is nobody to wait for.
  if (self->task->children == nullptr && !ompt::on()) return;
  Task* stand_in = allocate_task(0, 1, nullptr);
  if (ompt::on()) ompt::begin_task_wait_for(self, stand_in, list, count);
  link_and_wait(self, stand_in, list, count, false);
  if (ompt::on()) ompt::end_task_wait_for(self, stand_in);
  free_task(stand_in);
}

void await_events(Member* self) noexcept {
  Team* team = self->team;
  const auto over = [team] { return team->detached.load(std::memory_order_acquire) == 0; };
  while (!over()) {
    if (run_permitted_task(self)) continue;
    if (core::spin_until(self->context, over)) break;
    team->event_waiter.store(self->context, std::memory_order_release);
    platform::full_fence();
    block_between_tasks_unless(self, over);
    team->event_waiter.store(nullptr, std::memory_order_relaxed);
  }
  while (team->helpers.load(std::memory_order_acquire) != 0) platform::pause();
  team->detachable.store(false, std::memory_order_relaxed);
}

template <bool Told>
void begin_undeferred(Member* self, Task* task, bool final) noexcept {
  prepare(self, task, final || self->task->final);
  if (task->open.load(std::memory_order_relaxed) != 0) {
    task->team = self->team;
    open_event(self, self->team);
  }
  if (ompt::on<Told>()) ompt::create_undeferred(self, task);
  start(self, task);
  if (ompt::on<Told>()) ompt::start_task(self, task);
}
template void begin_undeferred<false>(Member* self, Task* task, bool final) noexcept;
template void begin_undeferred<true>(Member* self, Task* task, bool final) noexcept;

template <bool Told>
void end_undeferred(Member* self, Task* task) noexcept {
  Task* parent = task->parent.load(std::memory_order_relaxed);
  if (ompt::on<Told>()) ompt::end_task(self, task);
  end(self, task);
  self->task = parent;
}
template void end_undeferred<false>(Member* self, Task* task) noexcept;
template void end_undeferred<true>(Member* self, Task* task) noexcept;

void await_children(Member* self) noexcept {
  Task* now = self->task;
  const auto done = [now] {
    const auto remote = static_cast<uint32_t>(now->done_remote.load(std::memory_order_acquire));
    return now->created - now->done_here == remote;
  };
  while (!done()) {
    if (run_permitted_task(self)) continue;
    if (core::spin_until(self->context, [&] { return done(); })) break;
    // Against complete(): the fence is between our flag and the count.
    now->parent_waits.store(true, std::memory_order_relaxed);
    platform::full_fence();
    block_between_tasks_unless(self, done);
    now->parent_waits.store(false, std::memory_order_relaxed);
  }
  // Nobody needs to wait for what has ended.
  if (now->children != nullptr) now->children->clear();
}

void task_yield(Member* self, const void* caller) noexcept {
  if (ompt::on()) return ompt::task_yield(self, caller);
  yield_to_task(self);
}

void yield_to_task(Member* self) noexcept {
  if (self->team->size > 1 && self->team->tasked.load(std::memory_order_relaxed) && run_permitted_task(self)) return;
  core::yield();
}

void open_taskgroup(Member* self) noexcept {
  TaskGroup* group = take_group();
  group->outer = self->task->group;
  group->cancelled.store(false, std::memory_order_relaxed);
  group->implied = false;
  group->reduction_blocks = nullptr;
  group->reductions = nullptr;
  self->task->group = group;
}

void await_taskgroup(Member* self) noexcept {
  Task* now = self->task;
  TaskGroup* group = now->group;
  const auto done = [group] { return group->pending.load(std::memory_order_acquire) == 0; };
  while (!done()) {
    if (run_permitted_task(self)) continue;
    if (core::spin_until(self->context, done)) break;
    // Against complete(), as in task_wait(). Release: with the pointer comes what it points to.
    group->waiter.store(self->context, std::memory_order_release);
    platform::full_fence();
    block_between_tasks_unless(self, done);
    group->waiter.store(nullptr, std::memory_order_relaxed);
  }
  now->group = group->outer;
  put_group(group);
}

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
    block_between_tasks_unless(self, news);
    if (wake_up(self)) answer_call(self, !done());
  }
}

}  // namespace

void drain_at_barrier(Member* self) noexcept {
  Team* team = self->team;
  const uint32_t number = self->barriers;
  // Tasks that a faster member has pushed since need not be waited for: somebody saw those before all end.
  const auto drained = [&] {
    return static_cast<int32_t>(team->drained.load(std::memory_order_acquire) - number) >= 0;
  };
  drain(self, drained);
  if (self->implicit.children != nullptr) self->implicit.children->clear();
  if (drained()) return;
  team->drained.store(number, std::memory_order_release);
  platform::full_fence();
  wake_sleepers(team);
}

void drain_at_end(Member* primary) noexcept {
  Team* team = primary->team;
  drain(primary, [] { return false; });
  // Helpers that come later see that there is nothing to help with: flag and count, with a fence between on both
  // sides. Acquire: what a helper has done is seen.
  team->tasked.store(false, std::memory_order_relaxed);
  platform::full_fence();
  while (team->helpers.load(std::memory_order_acquire) != 0) {
    if (!core::yield()) platform::pause();
  }
  for (int i = 0; i < team->size; ++i) {
    if (TaskDeque* deque = deque_at(team, i)) {
      deque->created.store(0, std::memory_order_relaxed);
      deque->executed.store(0, std::memory_order_relaxed);
    }
  }
  close_calls(team);
  // In this record barriers count on.
  team->drained.store(primary->barriers, std::memory_order_relaxed);
  team->closing.store(false, std::memory_order_relaxed);
  team->detachable.store(false, std::memory_order_relaxed);
}

void help_with_tasks(Member* self) noexcept {
  while (run_any_task(self)) {
  }
}

void linger(Member* self, bool stay) noexcept {
  Team* team = self->team;
  team->helpers.fetch_add(1);
  platform::full_fence_after_update();
  // From here to the end of the count the primary cannot finish a region that has tasks, so the team stays as
  // it is. A nudge may come so late that the region is another one, of a team this member does not belong to.
  // Acquire: the flag is that region's, so its size is seen.
  if (team->tasked.load(std::memory_order_acquire) && self->number < team->size) {
    answer_recall(self);
    const auto news = [&] { return tasks_in_sight(team) || team->closing.load(std::memory_order_relaxed); };
    do {
      help_with_tasks(self);
    } while (stay && !team->closing.load(std::memory_order_relaxed) && core::spin_until(self->context, news));
    core::pass_call_on();
    go_on_call(self);
    // A task may have come before; and the primary may sleep until the last one has ended.
    help_with_tasks(self);
    // Two helpers that finish at the same time: with the fence one of them sees what both have executed.
    platform::full_fence();
    if (all_executed(team)) wake_sleepers(team);
  }
  // Release: against the primary's look at the count.
  team->helpers.fetch_sub(1, std::memory_order_release);
}

}  // namespace weft::openmp
