// SPDX-License-Identifier: Apache-2.0
// Creates tasks. Each is given to the team, given to the free agents, or run at once.
#include <algorithm>

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/settings/startup.h"
#include "openmp/task/dependences.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/lone_tasks.h"
#include "openmp/task/own_number.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_pause.h"
#include "openmp/task/task_run.h"
#include "openmp/task/task_wait.h"
#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

void prepare(Member* self, Task* task, bool final) noexcept {
  Task* parent = self->task;
  if (parent->icvs == &parent->own_icvs) {
    task->own_icvs = parent->own_icvs;
    task->icvs = &task->own_icvs;
  } else {
    task->icvs = parent->icvs;
  }
  renew(task, parent);
  task->final = final;
  ++parent->created;
  if (task->group != nullptr && task->group->counted) task->group->pending.fetch_add(1, std::memory_order_relaxed);
}

// A task with a priority is put in its place in the inbox, which takes a search. Where the inbox has more tasks than
// this, priorities do not count any more.
constexpr int kMostOrdered = 1024;

bool is_ordered(const Team* team) noexcept { return team->tasks.inbox.size() < kMostOrdered; }

// Says that the region has tasks, when its first one is created: members that sleep in the barrier's queue, or have
// finished the region, do not know yet.
void announce_tasks(Member* self) noexcept {
  Team* team = self->team;
  if (!team->tasks.tasked.exchange(true)) {
    // At the barriers that this member has passed there were no tasks to be drained. Another member may still be on its
    // way out of the last of them, and see `tasked` only now: it must not wait for tasks that are created after the
    // barrier.
    team->tasks.drained.store(self->barriers, std::memory_order_release);
    // Pairs with the fence of fall_asleep().
    platform::full_fence();
    open_calls(self);
    team->barrier.queue.release();
    // The primary may already wait for the other members' ends.
    if (team->persistent_team != nullptr) {
      team->persistent_team->call_owner();
    } else if (core::Context* sleeper = team->sleeper.load(std::memory_order_acquire)) {
      core::unblock(sleeper);
    }
  }
}

// Whether the task takes part in a reduction: copies of the variables are kept for the members of a team, so an agent
// cannot run it.
bool reduces(const Task* task) noexcept {
  for (const TaskGroup* group = task->group; group != nullptr; group = group->outer) {
    if (group->reduction_blocks != nullptr || group->reductions != nullptr) return true;
  }
  return false;
}

// Whether the caller runs an agent's task, whose children may have to run before it can go on.
bool gives_to_agents(const Member* self) noexcept { return tasks_may_pause() && self->team->agent_of != nullptr; }

bool suits_agents(const Member* self, const Task* task, const TaskClauses& clauses) noexcept {
  if (!clauses.deferred || task->final || reduces(task)) return false;
  return gives_to_agents(self) || (clauses.free_agents && agents_may_help(self));
}

// The team's barriers wait for an agent's task as for an event: for the end of its body, and for what the agent does
// after that.
void submit_to_agents(Member* self, Task* task, const TaskClauses& clauses) noexcept {
  Team* team = const_cast<Team*>(self->team->agent_of != nullptr ? self->team->agent_of : self->team);
  task->for_agents = true;
  task->team = team;
  if (clauses.detachable) {
    // The event may be fulfilled already. Relaxed: no other thread uses anything of the task but this count yet.
    task->open.fetch_add(1, std::memory_order_relaxed);
  } else {
    task->open.store(2, std::memory_order_relaxed);  // the end of the body, and the agent
  }
  open_events(self, team);
  work_beside_agents(self);
  if (clauses.dependence_count > 0 &&
      !link_dependences(self->task, task, clauses.dependences, clauses.dependence_count, true)) {
    return;
  }
  give_to_agents(task);
}

void give_to_team(Member* self, Task* task) noexcept {
  Team* team = self->team;
  if (goes_first(task) && is_ordered(team)) {
    team->tasks.inbox.put(task);
    call_to_tasks(team, self);
  } else if (push_task(self, task)) {
    call_to_tasks(team, self);
  } else if (tasks_may_pause()) {
    // The creator does not run the task itself: it could not go on while the task is paused.
    team->tasks.inbox.put(task);
    call_to_tasks(team, self);
  } else {
    run_pushed(self, task);
  }
}

// Whether the caller's children get on: half of what it may have is left in the end. While some are there to be run,
// one ends within a turn of the system's; else they may wait for what the caller holds, or does next.
bool run_until_few_are_left(Member* self, uint32_t few) noexcept {
  constexpr int64_t kPatienceNs = 4'000'000;
  int64_t since = platform::now_ns();
  for (uint32_t before = children_left(self->task); before > few;) {
    yield_task(self);
    const uint32_t left = children_left(self->task);
    if (left < before) {
      before = left;
      since = platform::now_ns();
    } else if (!tasks_in_sight(self->team) || platform::now_ns() - since > kPatienceNs) {
      return false;
    }
  }
  return true;
}

// Where tasks may be paused, the caller runs none of its children when it has made too many. It steps aside for its
// stand-in: tasks that are all made before one runs take memory, and what they use has left the cache by then.
void let_children_run(Member* self) noexcept {
  constexpr uint32_t kMostForEachMember = 64;
  Task* now = self->task;
  const uint32_t most = kMostForEachMember * static_cast<uint32_t>(self->team->size);
  const uint32_t left = children_left(now);
  // No stand-in comes where the caller counts on its number.
  if (left <= std::max(most, now->children_allowed) || counts_on_number(self)) return;
  // After a try in vain there are twice as many before the next one: there may be thousands that wait for messages.
  now->children_allowed = run_until_few_are_left(self, most / 2) ? 0 : 2 * left;
}

}  // namespace

void attach_to_pool(Member* self) noexcept {
  start_runtime();
  core::Context* context = core::attach();
  if (self->context == context) return;
  for (Member* member = self; member != nullptr; member = member->outer) {
    member->context = context;
    member->implicit.context = context;
    for (Task* task = member->task; task != nullptr && !task->implicit; task = task->parent) task->context = context;
  }
}

void open_events(Member* self, Team* team, int count) noexcept {
  attach_to_pool(self);
  // Sequentially consistent, as tell_away() in stand_in.cpp: a member that holds up others sees the count, or the
  // thread that counts the first event sees the member.
  if (team->tasks.detached.fetch_add(count) == 0 && team->tasks.holding_up.load() > 0) wake_sleepers(team);
  team->tasks.detachable.store(true, std::memory_order_relaxed);
  // Whichever way the task runs, the barriers of the team wait for its end.
  if (self->team == team && defers_tasks(team) && !team->tasks.tasked.load(std::memory_order_relaxed))
    announce_tasks(self);
}

bool runs_at_once(Member* self, bool deferred) noexcept {
  if (!deferred || self->task->final) return true;
  defer_where_alone(self);
  return !(defers_tasks(self->team) || gives_to_agents(self)) ||
         (self->deque != nullptr && self->deque->full() && !tasks_may_pause());
}

void dispatch_task(Member* self, Task* task, const TaskClauses& clauses) noexcept {
  Team* team = self->team;
  if (clauses.deferred) defer_where_alone(self);
  prepare(self, task, clauses.final || self->task->final);
  task->priority = std::min(clauses.priority, highest_priority());
  if (suits_agents(self, task, clauses)) {
    submit_to_agents(self, task, clauses);
    return;
  }
  if (clauses.detachable) open_events(self, team);
  if (clauses.detachable || clauses.dependence_count > 0) task->team = team;
  const bool deferred = clauses.deferred && defers_tasks(team) && !self->task->final;
  // Where every task runs when it is created, a task can wait only for detachable ones.
  const bool linked = clauses.dependence_count > 0 && ((defers_tasks(team) && !self->task->final) ||
                                                       team->tasks.detachable.load(std::memory_order_relaxed));
  if (!deferred) {
    if (linked) link_and_wait(self, task, clauses.dependences, clauses.dependence_count, true);
    task->undeferred = true;
    run_task(self, task);
    return;
  }
  if (!team->tasks.tasked.load(std::memory_order_relaxed)) announce_tasks(self);
  count_created(self);
  const bool waits = linked && !link_dependences(self->task, task, clauses.dependences, clauses.dependence_count, true);
  if (!waits) give_to_team(self, task);
  if (tasks_may_pause()) let_children_run(self);
}

void submit_empty_task(Member* self, const Dependence* list, int count) noexcept {
  Task* task = allocate_task(0, 1, nullptr);
  task->body = [](Task*) {};
  submit_task(self, task, {.dependences = list, .dependence_count = count});
}

void prepare_undeferred(Member* self, Task* task, bool final) noexcept {
  prepare(self, task, final || self->task->final);
  task->undeferred = true;
  if (task->open.load(std::memory_order_relaxed) != 0) {
    task->team = self->team;
    open_events(self, self->team);
  }
}

}  // namespace weft::openmp
