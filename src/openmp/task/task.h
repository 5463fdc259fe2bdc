// SPDX-License-Identifier: Apache-2.0
// Explicit tasks: what constructs and barriers do with them.
#pragma once

#include <cstddef>

#include "openmp/record/task.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

// A task with room for `bytes` after it, aligned to `alignment`, which is where *payload points. It is not
// started or counted yet. Never null: without memory the process ends with a message.
Task* allocate_task(size_t bytes, size_t alignment, void** payload) noexcept;

// What a task clause may say.
struct TaskClauses {
  bool deferred = true;  // if(true)
  bool final = false;
  bool detachable = false;
  bool free_agents = false;  // threadset(omp_pool)
  int priority = 0;
  const Dependence* dependences = nullptr;
  int dependence_count = 0;
};

// Whether a task without dependences or event would run at once; then it needs no copy of its data.
bool runs_at_once(Member* self, bool deferred) noexcept;

// Gives the task to the team, or runs it at once (if(false), in a final task, in a team of one, deque full).
// Frees it in the end.
void dispatch_task(Member* self, Task* task, const TaskClauses& clauses) noexcept;
template <bool Told = true>
void submit_task(Member* self, Task* task, const TaskClauses& clauses) noexcept {
  if (ompt::on<Told>()) ompt::create_task(self, task, clauses);
  dispatch_task(self, task, clauses);
}

// A task without a body: what depends on it waits for what it depends on (taskwait depend nowait).
void submit_empty_task(Member* self, const Dependence* list, int count) noexcept;

// Runs a task that was given to free agents.
void run_given(Member* agent, Task* task) noexcept;

// A task that runs on the caller's stack between these two: if(false) as clang emits it.
template <bool Told = true>
void begin_undeferred(Member* self, Task* task, bool final) noexcept;
template <bool Told = true>
void end_undeferred(Member* self, Task* task) noexcept;

// The event of a detachable task is fulfilled; from any thread (section 15.10, omp_fulfill_event).
void fulfill_event(Task* task) noexcept;

// `events` more are to come before the caller's task has ended; an implicit task's hold up the team's barriers.
void expect_events(Member* self, Task* task, int events) noexcept;
// They have come; from any thread.
void events_come(Task* task, int events) noexcept;
// Whether some are to come; a hint.
bool expects_events(const Task* task) noexcept;
// By the task itself: until all that it expects have come.
void await_own_events(Member* self, Task* task) noexcept;

// Events of tasks of `team` are to come: the team's barriers wait for them. By one of the thread's members.
void open_events(Member* self, Team* team, int count = 1) noexcept;

// Makes a thread that has opened no region of several members yet one of the pool's, so that it can wait.
void attach_to_pool(Member* self) noexcept;

// Waits until the children of the current task have ended.
void await_children(Member* self) noexcept;
// The taskwait construct.
template <bool Told = true>
void task_wait(Member* self, const void* caller) noexcept {
  if (ompt::on<Told>()) return ompt::task_wait(self, caller);
  await_children(self);
}

// Waits until those of them have ended that a task with these dependences would wait for.
void task_wait_for(Member* self, const Dependence* list, int count) noexcept;

// May run another task.
void yield_to_task(Member* self) noexcept;
// The taskyield construct.
void task_yield(Member* self, const void* caller) noexcept;

// What the two below do, less what they tell a tool.
void open_taskgroup(Member* self) noexcept;
void await_taskgroup(Member* self) noexcept;

template <bool Told = true>
void begin_taskgroup(Member* self) noexcept {
  if (ompt::on<Told>()) ompt::begin_taskgroup(self);
  open_taskgroup(self);
}
template <bool Told = true>
void end_taskgroup(Member* self) noexcept {
  if (ompt::on<Told>()) return ompt::end_taskgroup(self);
  await_taskgroup(self);
}

// ---- for barriers and the ends of regions ----

// Runs tasks of the team until every one pushed before the barrier has ended. Every member is in here.
void drain_at_barrier(Member* self) noexcept;

// Runs the tasks that are left at the end of the region, where the primary is alone but for helpers.
void drain_at_end(Member* primary) noexcept;

// In a team of one: waits until its detachable tasks have ended.
void await_events(Member* self) noexcept;

// Runs tasks as long as some can be found.
void help_with_tasks(Member* self) noexcept;

// The same by a member of a persistent team, which stays a while for more: after its part of the region, until the
// primary has reached the end and waits for it; and, when it has been called after that, until there are no tasks any
// more. Else those that still make some would have to call it again and again.
enum class Lingers : uint8_t { until_closing, until_tasks_end };
void linger(Member* self, Lingers until) noexcept;

// Returns a task to the pool it came from, when nobody refers to it any more.
void free_task(Task* task) noexcept;

}  // namespace weft::openmp
