// SPDX-License-Identifier: Apache-2.0
// Explicit tasks: what constructs and barriers do with them.
#pragma once

#include <cstddef>

#include "openmp/record/task.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

// A task with room for `bytes` behind its record, aligned to `alignment`; *payload points there. The task is neither
// started nor counted yet. Never null: without memory the process ends with a message.
Task* allocate_task(size_t bytes, size_t alignment, void** payload) noexcept;

// The clauses of a task construct.
struct TaskClauses {
  bool deferred = true;  // if(true)
  bool final = false;
  bool detachable = false;
  bool free_agents = false;  // threadset(omp_pool)
  int priority = 0;
  const Dependence* dependences = nullptr;
  int dependence_count = 0;
};

// Whether a task that has neither dependences nor an event would run at once; then it needs no copy of its data.
bool runs_at_once(Member* self, bool deferred) noexcept;

// Gives the task to the team; or runs it at once, where it has if(false), or the current task is final, or the team has
// one member, or the deque is full. The task is freed when it has ended.
void dispatch_task(Member* self, Task* task, const TaskClauses& clauses) noexcept;
[[gnu::always_inline]] inline void submit_task(Member* self, Task* task, const TaskClauses& clauses,
                                               tool::Listener listener = tool::Listener::possible) noexcept {
  tool::create_task(listener, self, task, clauses);
  dispatch_task(self, task, clauses);
}

// A task without a body (taskwait depend nowait): tasks that depend on it wait for the tasks that it depends on.
void submit_empty_task(Member* self, const Dependence* list, int count) noexcept;

// Runs a task that was given to free agents.
void run_given(Member* agent, Task* task) noexcept;

// For begin_undeferred() in task_run.h.
void prepare_undeferred(Member* self, Task* task, bool final) noexcept;

// The event of a detachable task is fulfilled (section 15.10, omp_fulfill_event). Called by any thread.
void fulfill_event(Task* task) noexcept;

// The caller's task ends only when `events` more events have come. Events of an implicit task hold up the team's
// barriers.
void expect_events(Member* self, Task* task, int events) noexcept;
// `events` of them have come. Called by any thread.
void events_come(Task* task, int events) noexcept;
// Whether the task expects events that have not come; a hint.
bool expects_events(const Task* task) noexcept;
// Called by the task itself: waits until all events that it expects have come.
void await_own_events(Member* self, Task* task) noexcept;

// Counts events of tasks of `team` that are to come: the team's barriers wait for them.
void open_events(Member* self, Team* team, int count = 1) noexcept;

// Attaches the calling thread to the pool, so that it can wait. A thread that has opened no region of several members
// is not attached before.
void attach_to_pool(Member* self) noexcept;

// Waits until the children of the current task have ended.
void await_children(Member* self) noexcept;
// The taskwait construct.
[[gnu::always_inline]] inline void task_wait(Member* self, const void* caller,
                                             tool::Listener listener = tool::Listener::possible) noexcept {
  if (!tool::task_wait(listener, self, caller)) await_children(self);
}

// Waits until those children have ended that a task with these dependences would wait for.
void task_wait_for(Member* self, const Dependence* list, int count) noexcept;

// Runs another task, if there is one that may run on top of the current one; otherwise it may leave the CPU.
void yield_to_task(Member* self) noexcept;
// The taskyield construct.
void task_yield(Member* self, const void* caller) noexcept;

// A group inside `outer`, which may be null. Who has made it gives it back with put_group() when its tasks have ended.
TaskGroup* make_group(TaskGroup* outer) noexcept;

// begin_taskgroup() and end_taskgroup() below, without the tool.
void open_taskgroup(Member* self) noexcept;
void await_taskgroup(Member* self) noexcept;

[[gnu::always_inline]] inline void begin_taskgroup(Member* self,
                                                   tool::Listener listener = tool::Listener::possible) noexcept {
  tool::begin_taskgroup(listener, self);
  open_taskgroup(self);
}
[[gnu::always_inline]] inline void end_taskgroup(Member* self,
                                                 tool::Listener listener = tool::Listener::possible) noexcept {
  if (!tool::end_taskgroup(listener, self)) await_taskgroup(self);
}

// ---- for barriers and the ends of regions ----

// Runs tasks of the team until every task that was pushed before the barrier has ended. Each member calls it.
void drain_at_barrier(Member* self) noexcept;

// Runs the tasks that are left at the end of the region. Called by the primary, when the other members have ended their
// part; some of these may help (linger()).
void drain_at_end(Member* primary) noexcept;

// In a team of one: waits until its detachable tasks have ended.
void await_events(Member* self) noexcept;

// Runs tasks as long as some can be found.
void help_with_tasks(Member* self) noexcept;

// Runs tasks, and waits a while for more. Called by a member of a persistent team: after its part of the region, until
// the primary has reached the end and waits for it (until_closing); and when it has been called after that, until the
// region has no tasks any more (until_tasks_end). A member that left at once would have to be called again and again.
enum class Lingers : uint8_t { until_closing, until_tasks_end };
void linger(Member* self, Lingers until) noexcept;

// Returns a task to the pool it came from, when nobody refers to it any more.
void free_task(Task* task) noexcept;

}  // namespace weft::openmp
