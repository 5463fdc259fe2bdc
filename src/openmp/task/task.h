// SPDX-License-Identifier: Apache-2.0
// Explicit tasks (OpenMP 5.2, section 12).
//
// Counting. A parent counts the children it created (plain: only it creates them). A child that ends
// on the parent's own context counts itself in `done_here` (plain), elsewhere in `done_remote` (atomic); so a
// tree that one member runs uses no atomic read-modify-write. A parent that ends before its children takes
// those outstanding off `done_remote`, which becomes negative; the child that brings it back to 0 frees it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/small_list.h"
#include "core/api/records.h"
#include "openmp/ompt/events.h"
#include "openmp/settings/icv.h"
#include "platform/spinlock.h"

namespace weft::openmp {

struct Member;
struct Task;
struct TaskReductions;
struct Team;
class DependTable;
struct Dependence;

// A taskgroup region: all tasks created in it and by its tasks must end before it does. The record is never freed: a
// task that ends last looks at it once more.
struct TaskGroup {
  std::atomic<int> pending{0};  // release by those that end, acquire by the one that waits
  std::atomic<core::Context*> waiter{nullptr};
  TaskGroup* outer = nullptr;
  std::atomic<bool> cancelled{false};  // relaxed: a task that sees it late runs
  bool implied = false;  // a worksharing construct's own, for its reductions: no construct of the program

  // Reductions that the tasks take part in: combined by the program (reduction_blocks.h), or by the runtime
  // (task_reduction.h).
  uintptr_t* reduction_blocks = nullptr;
  TaskReductions* reductions = nullptr;
};

struct Task {
  // ---- what every task uses: two cache lines ----
  Icvs* icvs = nullptr;
  void (*body)(Task* task) = nullptr;

  // Atomic since a thief looks at a task that its owner may be running or recycling: it acts on what it
  // saw only if it then gets the task. Relaxed: the deque orders the rest.
  std::atomic<Task*> parent{nullptr};
  std::atomic<int> depth{0};
  std::atomic<bool> ended{false};

  bool final = false;
  bool implicit = false;
  bool linked = false;               // others may wait for it (dependences.h)
  bool for_agents = false;           // free_agent.h
  bool uses_number = false;          // it has asked for its thread number (own_number.h)
  bool undeferred = false;           // its parent goes on when it has ended
  bool waits_for_events = false;     // before it ends: nobody else could
  int priority = 0;
  core::Context* context = nullptr;  // where it runs; null until it starts
  TaskGroup* group = nullptr;
  // The deque's bottom when it started: what lies above are its descendants. Above all: others have used the deque
  // since.
  static constexpr int64_t kNoFloor = INT64_MAX;
  int64_t floor = 0;

  uint32_t created = 0;
  uint32_t done_here = 0;
  std::atomic<int32_t> done_remote{0};
  // The member that took a child of it from another's deque last, or -1; a hint (deque_of_thief() in task_take.h).
  std::atomic<int> thief{-1};
  // The detach clause: two things must happen before the task has ended, the end of its body and its event. Acquire and
  // release: the second comes after all the first has done. 0 for other tasks.
  std::atomic<int> open{0};

  // The adapter's part: for GOMP function and data, for KMP the task record that the program sees.
  void (*function)(void* data) = nullptr;
  void* data = nullptr;

  void* big = nullptr;  // the payload, when it does not fit behind the record
  struct TaskPool* pool = nullptr;
  Task* next_free = nullptr;
  size_t capacity = 0;  // bytes that follow this record
  DependTable* children = nullptr;  // those of its children that named dependences; stays with the record

  // ---- what few use ----
  Icvs own_icvs{};  // in use once the task has set one
  std::atomic<bool> parent_waits{false};  // in taskwait, asleep

  // Dependences. `edges` guards `successors` and the end of `life`, which counts the tasks that this record has been.
  // `unmet`: predecessors that have not ended. `waiter`: the context that waits for them in place of a deque; or, once
  // the task runs, for its events.
  platform::Spinlock edges;
  std::atomic<uint32_t> life{0};
  std::atomic<int> unmet{0};
  std::atomic<core::Context*> waiter{nullptr};
  base::SmallList<Task*, 2> successors;

  Team* team = nullptr;  // of a detachable task, of one with dependences or events, and of one for free agents
  // unblock_task() has come, and no block_task() has taken that. Sequentially consistent, as in task_pause.cpp.
  std::atomic<bool> unblocked{false};
  ompt::TaskInfo tool;
};

// A task with room for `bytes` after it, aligned to `alignment`, which is where *payload points. It is not
// started or counted yet. Never null: without memory the process ends with a message.
Task* allocate_task(size_t bytes, size_t alignment, void** payload) noexcept;

// Before the program gets the task's event, which it may fulfill at once. To a tool the task is not there yet.
inline void make_detachable(Task* task) noexcept {
  task->open.store(2, std::memory_order_relaxed);
  task->tool.flags = 0;
}

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

// A record that is about to be a task again, of `parent` or, null, of none (spawned.h). Its ICVs are the caller's part.
inline void renew(Task* task, Task* parent) noexcept {
  task->parent.store(parent, std::memory_order_relaxed);
  task->depth.store(parent != nullptr ? parent->depth.load(std::memory_order_relaxed) + 1 : 0,
                    std::memory_order_relaxed);
  task->ended.store(false, std::memory_order_relaxed);
  task->for_agents = false;
  task->uses_number = false;
  task->undeferred = false;
  task->waits_for_events = false;
  task->group = parent != nullptr ? parent->group : nullptr;
  task->created = 0;
  task->done_here = 0;
  task->done_remote.store(0, std::memory_order_relaxed);
  task->thief.store(-1, std::memory_order_relaxed);
}

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
