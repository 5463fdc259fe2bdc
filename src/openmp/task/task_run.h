// SPDX-License-Identifier: Apache-2.0
// Running one task on the caller's stack. Internal to openmp/task.
#pragma once

#include <utility>

#include "openmp/task/stand_in.h"
#include "openmp/task/task_take.h"

namespace weft::openmp {

inline void start_task(Member* self, Task* task) noexcept {
  task->context = self->context;
  task->floor = self->deque != nullptr ? self->deque->bottom() : self->lacks_deque ? Task::kNoFloor : 0;
  self->task = task;
}

// Whether those that wait for a task are told of its end at once, or with the next ones.
enum class Telling : uint8_t { now, later };

// The body has ended. Tells those that wait for the task and frees it, once its children and its event have ended too.
void end_task(Member* self, Task* task, Telling telling = Telling::now) noexcept;

inline void run_task(Member* self, Task* task, Telling telling = Telling::now) noexcept {
  Task* previous = self->task;
  start_task(self, task);
  task->body(task);  // with a tool: ompt::run_told()
  end_task(self, task, telling);
  self->task = previous;
}

// The same of a task that the deques count.
inline void run_pushed(Member* self, Task* task) noexcept {
  run_task(self, task);
  count_executed(self, 1);
  if (tasks_may_pause()) let_paused_go_on(self);
}

// Without a look at the parent, whose line its thread writes for each task that it creates.
inline bool has_implicit_parent(const Task* task) noexcept { return task->depth.load(std::memory_order_relaxed) == 1; }

// Who may wait for a task that has not begun. The parent may be another task by the time it is woken: that is for
// nothing then.
struct Waiters {
  const Task* parent = nullptr;
  core::Context* context = nullptr;  // the parent's; null: it is an implicit task, which keeps its own
  const TaskGroup* group = nullptr;

  bool operator==(const Waiters&) const = default;
};
Waiters waiters_for(const Task* task) noexcept;
// The task has come to a deque where they can find it. After a fence.
void wake(const Waiters& waiters) noexcept;

// Ends that are told together. Many threads that run short tasks of one parent would spend their time on the line with
// its count. So a member counts for itself while it finds more tasks of that parent. Who waits for those that have
// ended waits for the one that runs now as well, since that has the same parent and group, and is of the same region.
// But they could run what the one that has ended made ready: the end of a task that others depend on is told at once.
// Before another parent's task begins, when the member finds no more, and before it leaves, it tells.
void tell_ends_to_parent(Member* self) noexcept;
inline void tell_ends(Member* self) noexcept {
  if (self->untold_ends.executed == 0) return;
  if (self->untold_ends.children != 0) tell_ends_to_parent(self);
  // Last: when the barriers have seen it, the parent may be a task of another region.
  count_executed(self, std::exchange(self->untold_ends.executed, 0));
}

inline bool goes_first(const Task* task) noexcept { return task->priority > 0; }

}  // namespace weft::openmp
