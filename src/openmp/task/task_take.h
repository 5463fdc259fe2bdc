// SPDX-License-Identifier: Apache-2.0
// Which task a member runs next: one from its own deque, from the team's inbox, or from another member's deque.
#pragma once

#include "openmp/record/deque_marks.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task_deque.h"
#include "platform/fence.h"

namespace weft::openmp {

// The member's own deque; made when it is asked for first.
TaskDeque* make_deque(Member* self) noexcept;
inline TaskDeque* deque_of(Member* self) noexcept { return self->deque != nullptr ? self->deque : make_deque(self); }

// Called by a member that lacks its number's deque: takes the deque if no other context has it any more (stand_in.h).
void take_free_deque(Member* self) noexcept;

// Counts a task that the member has created: it waits in a deque, in the inbox, or for predecessors. From now on the
// team's barriers wait for it.
inline void count_created(Member* self) noexcept {
  if (__builtin_expect(self->lacks_deque, 0)) take_free_deque(self);
  if (__builtin_expect(self->lacks_deque, 0)) {
    self->team->tasks.created.fetch_add(1, std::memory_order_relaxed);
  } else {
    deque_of(self)->count_created();
  }
}

// Counts tasks that the member has run. Release: as TaskDeque::executed.
inline void count_executed(Member* self, uint32_t tasks) noexcept {
  if (__builtin_expect(self->lacks_deque, 0)) {
    self->team->tasks.executed.fetch_add(tasks, std::memory_order_release);
  } else {
    deque_of(self)->count_executed(tasks);
  }
}

// Puts a task that is ready where others find it. Returns false where there is no room.
inline bool push_task(Member* self, Task* task) noexcept {
  if (__builtin_expect(!self->lacks_deque, 1)) return deque_of(self)->push(task);
  self->team->tasks.inbox.put(task);
  return true;
}

// The deque of member `number`, or null.
inline TaskDeque* deque_at(const Team* team, int number) noexcept {
  return team->members.deques.load(std::memory_order_relaxed)[number].load(std::memory_order_acquire);
}

// Deques with tasks are marked in teams of kMarksFrom members or more, and in processes whose tasks may be paused.
inline constexpr int kMarksFrom = 16;
inline bool wants_marks(int size) noexcept { return size >= kMarksFrom || tasks_may_pause(); }

inline std::atomic<uint32_t>& marks_around(const Team* team, int number) noexcept {
  return team->members.marks[number / DequeMarks::kMembers].members;
}

// Marks the member's deque. Called after a push to it and a fence.
inline void mark_filled(Team* team, int number) noexcept {
  if (!team->tasks.marks_filled.load(std::memory_order_relaxed)) return;
  std::atomic<uint32_t>& marks = marks_around(team, number);
  if ((marks.load(std::memory_order_relaxed) & deque_mark(number)) != 0) return;
  marks.fetch_or(deque_mark(number));
  platform::full_fence_after_update();
}

// Calls look(number) for each deque that may have tasks, from `from` on around the end, until one answers true.
template <class Look>
bool look_at_deques(const Team* team, int from, Look&& look) noexcept {
  if (team->tasks.marks_filled.load(std::memory_order_relaxed))
    return find_marked(team->members.marks, from, team->size, look) >= 0;
  for (int i = 0; i < team->size; ++i) {
    if (look(from + i < team->size ? from + i : from + i - team->size)) return true;
  }
  return false;
}

// OMP_MAX_TASK_PRIORITY. With 0, the default, no member looks for tasks with a priority.
int highest_priority() noexcept;

// Whether tasks can be found that wait to be run; a hint.
bool tasks_in_sight(const Team* team) noexcept;

// Whether all tasks that have been pushed in the region have been run, and their events have come.
bool all_executed(const Team* team) noexcept;

// In teams of kTracesFrom members or more, a look at all marked deques costs more than it gains, as a rule. There a
// thief leaves a trace: its number in the parent of the task that it has taken (Task::thief).
inline constexpr int kTracesFrom = 64;

// Where a member looks for a descendant of its task: in all deques; in some, from where it has looked last; or in the
// deque of the thief of one of its children, which is cheap enough to be done often.
enum class Search : uint8_t { everywhere, in_some, at_thief };
// Each runs a task, if it finds one that may run on top of the current task: a descendant of that (OpenMP 5.2, 12.9:
// the task scheduling constraint), or any task where the current one is implicit. run_own_task() takes a task with a
// priority or one from the member's own deque; run_others_task() takes another member's.
bool run_own_task(Member* self) noexcept;
bool run_others_task(Member* self, Search where) noexcept;
inline bool run_permitted_task(Member* self) noexcept {
  return run_own_task(self) || run_others_task(self, Search::everywhere);
}

// Runs a child of the current task, in `group` if that is not null: one of the inbox, or the task that the member has
// pushed last. So a member that waits for these waits for nothing else, if the child is paused on top of it.
bool run_own_child(Member* self, const TaskGroup* group) noexcept;

// The deque of the thief that has taken a child of the current task last, or null. Descendants may lie there. A hint.
TaskDeque* deque_of_thief(const Member* self) noexcept;

// Takes any task of the team, or returns null. Called by members that have begun no task but the implicit one.
Task* take_any_task(Member* self) noexcept;
// Runs a task that was taken. Returns false for null.
bool run_taken(Member* self, Task* task) noexcept;
// Leaves a task that was taken to others after all.
void put_back(Member* self, Task* task) noexcept;
inline bool run_any_task(Member* self) noexcept { return run_taken(self, take_any_task(self)); }

}  // namespace weft::openmp
