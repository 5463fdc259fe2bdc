// SPDX-License-Identifier: Apache-2.0
// Running one task on the caller's stack. For openmp/task, and for tasks of clang that begin and end in two calls.
#pragma once

#include <utility>

#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_take.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

inline void start_task(Member* self, Task* task) noexcept {
  task->context = self->context;
  task->floor = self->deque != nullptr ? self->deque->bottom() : self->lacks_deque ? Task::kNoFloor : 0;
  self->task = task;
}

// Whether the end of a task is told to those that wait for it at once, or together with later ends (tell_ends()).
enum class Telling : uint8_t { now, later };

// To be called when the body has ended. The task ends when its event has come, too: then those that wait for it are
// told. It is freed when its children have ended as well.
void end_task(Member* self, Task* task, Telling telling = Telling::now) noexcept;

// A task that runs on the caller's stack between these two: if(false) as clang emits it.
inline void begin_undeferred(Member* self, Task* task, bool final, tool::Listener listener) noexcept {
  prepare_undeferred(self, task, final);
  tool::create_undeferred(listener, self, task);
  start_task(self, task);
  tool::start_task(listener, self, task);
}

inline void end_undeferred(Member* self, Task* task, tool::Listener listener) noexcept {
  Task* parent = task->parent.load(std::memory_order_relaxed);
  tool::end_task(listener, self, task);
  end_task(self, task);
  self->task = parent;
}

inline void run_task(Member* self, Task* task, Telling telling = Telling::now) noexcept {
  Task* previous = self->task;
  start_task(self, task);
  task->body(task);  // with a tool: run_reported() (tool/event_bodies.h)
  end_task(self, task, telling);
  self->task = previous;
}

// The same for a task that the deques count.
inline void run_pushed(Member* self, Task* task) noexcept {
  run_task(self, task);
  count_executed(self, 1);
  if (tasks_may_pause()) let_paused_go_on(self);
}

// Whether the task's parent is an implicit task. It does not read the parent, whose cache line the parent's thread
// writes for each task that it creates.
inline bool has_implicit_parent(const Task* task) noexcept { return task->depth.load(std::memory_order_relaxed) == 1; }

// The contexts that may wait for a task that has not begun: its parent's, and that of a taskgroup. By the time a
// context is woken, the parent's record may be another task: then the context wakes for nothing.
struct Waiters {
  const Task* parent = nullptr;
  core::Context* context = nullptr;  // the parent's; null: the parent is an implicit task, which keeps its context
  const TaskGroup* group = nullptr;

  bool operator==(const Waiters&) const = default;
};
Waiters waiters_for(const Task* task) noexcept;
// Wakes those that may wait for a task: it has come to a deque where they can find it. Called after a fence.
void wake(const Waiters& waiters) noexcept;

// Ends of tasks are told together. Many threads that run short tasks of one parent would spend their time on the cache
// line with the parent's count. So a member counts ends for itself while it finds more tasks of the same parent and
// group (Member::uncounted_ends). That delays nobody: a context that waits for the tasks that have ended waits for the
// task that runs now as well. An exception is a task that others depend on. Its end makes tasks ready that the waiting
// context could run, so it is told at once. A member tells its ends before it begins a task of another parent, when it
// finds no more tasks, and before it leaves.
void tell_ends_to_parent(Member* self) noexcept;
inline void tell_ends(Member* self) noexcept {
  if (self->uncounted_ends.executed == 0) return;
  if (self->uncounted_ends.children != 0) tell_ends_to_parent(self);
  // Last: when the barriers have seen it, the parent may be a task of another region.
  count_executed(self, std::exchange(self->uncounted_ends.executed, 0));
}

inline bool goes_first(const Task* task) noexcept { return task->priority > 0; }

}  // namespace weft::openmp
