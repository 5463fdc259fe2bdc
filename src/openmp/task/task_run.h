// SPDX-License-Identifier: Apache-2.0
// Running one task on the caller's stack. Internal to openmp/task.
#pragma once

#include "openmp/task/stand_in.h"
#include "openmp/task/task_take.h"

namespace weft::openmp {

inline void start_task(Member* self, Task* task) noexcept {
  task->context = self->context;
  task->floor = self->deque != nullptr ? self->deque->bottom.load(std::memory_order_relaxed)
                : self->lacks_deque    ? Task::kNoFloor
                                       : 0;
  self->task = task;
}

// The body has ended. Tells those that wait for the task and frees it, once its children and its event have ended too.
void end_task(Member* self, Task* task) noexcept;

inline void run_task(Member* self, Task* task) noexcept {
  Task* previous = self->task;
  start_task(self, task);
  task->body(task);  // with a tool: ompt::run_told()
  end_task(self, task);
  self->task = previous;
}

// The same of a task that the deques count.
inline void run_pushed(Member* self, Task* task) noexcept {
  run_task(self, task);
  count_executed(self);
  if (tasks_may_pause()) let_paused_go_on(self);
}

inline bool goes_first(const Task* task) noexcept { return task->priority > 0; }

}  // namespace weft::openmp
