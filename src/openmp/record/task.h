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
#include "openmp/record/icv.h"
#include "openmp/tool/records.h"
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
  bool implied = false;  // of a region or a worksharing construct, for its reductions: no construct of the program
  bool counted = true;   // whether the group counts its tasks: somebody waits for them

  // Reductions that the tasks take part in: combined by the program (reduction_blocks.h), or by the runtime
  // (task_reduction.h).
  uintptr_t* reduction_blocks = nullptr;
  TaskReductions* reductions = nullptr;
};

struct Task {
  // ---- what every task uses: three cache lines ----
  Icvs* icvs = nullptr;
  void (*body)(Task* task) = nullptr;

  // Atomic since a thief looks at a task that its owner may be running or recycling: it acts on what it
  // saw only if it then gets the task. Relaxed: the deque orders the rest.
  std::atomic<Task*> parent{nullptr};
  std::atomic<int> depth{0};
  std::atomic<bool> ended{false};

  bool final = false;
  bool implicit = false;
  bool linked = false;               // other tasks may wait for it (dependences.h)
  bool for_agents = false;           // free_agent.h
  bool uses_number = false;          // it has asked for its thread number (own_number.h)
  bool undeferred = false;           // its parent goes on when it has ended
  bool waits_for_events = false;     // its body waits for its events before it ends, since its parent goes on then
  int priority = 0;
  core::Context* context = nullptr;  // where it runs; null until it starts
  TaskGroup* group = nullptr;
  // The bottom of its member's deque when it started: tasks at this index or above are its descendants. kNoFloor: other
  // contexts have used the deque since, so none is known to be.
  static constexpr int64_t kNoFloor = INT64_MAX;
  int64_t floor = 0;

  uint32_t created = 0;
  uint32_t done_here = 0;
  uint32_t children_allowed = 0;  // more than these, and it lets them run (task_dispatch.cpp)
  std::atomic<int32_t> done_remote{0};
  // The thief: the member that last took a child of this task from another member's deque, or -1; a hint
  // (deque_of_thief() in task_take.h).
  std::atomic<int> thief{-1};
  // For detachable tasks: what must still happen before the task has ended, that is the end of its body and its events.
  // Acquire and release: the thread that brings it to 0 sees what the others have done. 0 for other tasks.
  std::atomic<int> open{0};

  // The adapter's part: for GOMP function and data, for KMP the task record that the program sees.
  void (*function)(void* data) = nullptr;
  void* data = nullptr;

  void* big = nullptr;  // the payload, when it does not fit behind the record
  struct TaskPool* pool = nullptr;
  Task* next_free = nullptr;
  size_t capacity = 0;  // bytes that follow this record
  DependTable* children = nullptr;  // children that named dependences; the table stays with the record

  // ---- what few tasks use ----
  Icvs own_icvs{};  // in use once the task has set one
  std::atomic<bool> parent_waits{false};  // this task waits, asleep, for children of its own

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
  tool::TaskInfo tool;
};

// How many children of the task have not ended. Called by the context that runs it. Acquire: what those that have ended
// elsewhere have done is seen.
inline uint32_t children_left(const Task* task) noexcept {
  return task->created - task->done_here - static_cast<uint32_t>(task->done_remote.load(std::memory_order_acquire));
}

// Before the program gets the task's event, which it may fulfill at once. To a tool the task is not there yet.
inline void make_detachable(Task* task) noexcept {
  task->open.store(2, std::memory_order_relaxed);
  task->tool.flags = 0;
}

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
  task->children_allowed = 0;
  task->done_remote.store(0, std::memory_order_relaxed);
  task->thief.store(-1, std::memory_order_relaxed);
}

}  // namespace weft::openmp
