// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_take.h"

#include <array>
#include <climits>
#include <new>

#include "base/message.h"
#include "base/options.h"
#include "openmp/settings/statistics.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/task.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_run.h"

namespace weft::openmp {

TaskDeque* make_deque(Member* self) noexcept {
  auto& made = self->team->members.deques.load(std::memory_order_relaxed)[self->number];
  TaskDeque* deque = made.load(std::memory_order_relaxed);
  if (deque == nullptr) {
    deque = new (std::nothrow) TaskDeque;
    if (deque == nullptr) base::lacking("no memory for explicit tasks");
    made.store(deque, std::memory_order_release);
  }
  self->deque = deque;
  return deque;
}

int highest_priority() noexcept {
  static const int value = base::options().max_task_priority;
  return value;
}

bool tasks_in_sight(const Team* team) noexcept {
  if (team->tasks.inbox.size() > 0) return true;
  return look_at_deques(team, 0, [team](int number) {
    const TaskDeque* deque = deque_at(team, number);
    return deque != nullptr && !deque->empty();
  });
}

bool all_executed(const Team* team) noexcept {
  // Executed first: the sums only grow, so if they are equal they were equal at a time between.
  uint64_t executed = team->tasks.executed.load(std::memory_order_acquire);
  for (int i = 0; i < team->size; ++i) {
    if (const TaskDeque* deque = deque_at(team, i)) executed += deque->executed.load(std::memory_order_acquire);
  }
  uint64_t created = team->tasks.created.load(std::memory_order_acquire);
  for (int i = 0; i < team->size; ++i) {
    if (const TaskDeque* deque = deque_at(team, i)) created += deque->created.load(std::memory_order_acquire);
  }
  return executed == created && team->tasks.detached.load(std::memory_order_acquire) == 0;
}

namespace {

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

// Takes a wanted task with a priority, if there is one.
template <class Wanted>
Task* take_urgent(Team* team, Wanted&& wanted) noexcept {
  if (highest_priority() == 0 || team->tasks.inbox.size() == 0) return nullptr;
  return team->tasks.inbox.take([&wanted](const Task* task) { return goes_first(task) && wanted(task); });
}

// Takes the mark of a deque away. Called by a thread that has found the deque empty.
void mark_empty(Team* team, int number) noexcept {
  if (!team->tasks.marks_filled.load(std::memory_order_relaxed)) return;
  std::atomic<uint32_t>& marks = marks_around(team, number);
  if ((marks.fetch_and(~deque_mark(number)) & deque_mark(number)) == 0) return;
  platform::full_fence_after_update();
  if (deque_at(team, number)->empty()) return;
  marks.fetch_or(deque_mark(number));
  // A member that has looked while the mark was gone has seen no task, and may sleep.
  call_to_tasks(team, nullptr);
}

// Looks at others' deques, from that of number `from` on, until take(deque) gives a task or `most` have been looked at.
// Then takes a wanted task of the inbox.
template <class Take, class Wanted>
Task* search(Member* self, int from, int most, Take&& take, Wanted&& wanted) noexcept {
  Team* team = self->team;
  if (!defers_tasks(team)) return nullptr;
  Task* task = nullptr;
  count(&g_task_searches);
  look_at_deques(team, from < team->size ? from : 0, [&](int victim) {
    count(&g_deques_searched);
    self->looked_at = victim;
    TaskDeque* deque = deque_at(team, victim);
    if (deque == nullptr) return false;
    if (deque->empty()) {
      mark_empty(team, victim);
    } else if (deque != self->deque) {
      task = take(deque);
    }
    return task != nullptr || --most == 0;
  });
  if (task != nullptr) return task;
  return team->tasks.inbox.size() > 0 ? team->tasks.inbox.take(wanted) : nullptr;
}

// Steals from the deque of the thief of a child of the current task.
template <class Wanted>
Task* steal_back(const Member* self, Wanted&& wanted) noexcept {
  TaskDeque* deque = deque_of_thief(self);
  return deque != nullptr && !deque->empty() ? deque->steal(wanted) : nullptr;
}

// The number at which the member begins to look at others' deques. Where it lacks its number's deque, that is another
// context's and is looked at too.
int next_to(const Member* self) noexcept { return self->number + (self->lacks_deque ? 0 : 1); }

template <class Wanted>
Task* steal(Member* self, Wanted&& wanted) noexcept {
  return search(self, next_to(self), INT_MAX, [&](TaskDeque* deque) { return deque->steal(wanted); }, wanted);
}

// Steals from some deques, from where the member has looked last.
template <class Wanted>
Task* steal_from_some(Member* self, Wanted&& wanted) noexcept {
  constexpr int kDeques = 8;
  return search(self, self->looked_at + 1, kDeques, [&](TaskDeque* deque) { return deque->steal(wanted); }, wanted);
}

// Leaves a trace for the member that runs the task's parent: it looks at this member's deque for descendants. A member
// that runs an implicit task takes any task, and needs no trace.
void leave_trace(const Member* self, const Task* task) noexcept {
  if (self->team->size >= kTracesFrom && !has_implicit_parent(task))
    task->parent.load(std::memory_order_relaxed)->thief.store(self->number, std::memory_order_relaxed);
}

// Takes the oldest task of a deque. Where the deque has many, takes several, and puts the others into the caller's own
// deque, which is empty. Other members find them there, so that not all come to the deque of one producer.
template <class Wanted>
Task* take_several(Member* self, TaskDeque* from, Wanted&& wanted) noexcept {
  TaskDeque::Loot loot;
  const int count = from->steal_several(loot, wanted);
  if (count == 0) return nullptr;
  // Read before others can take the tasks: a task that has ended leaves its record to another one.
  std::array<Waiters, TaskDeque::kSeveral> waiters;
  int distinct = 0;
  for (int i = 0; i < count && count > 1; ++i) {
    const Waiters theirs = waiters_for(loot[static_cast<size_t>(i)]);
    if (distinct == 0 || !(waiters[static_cast<size_t>(distinct - 1)] == theirs))
      waiters[static_cast<size_t>(distinct++)] = theirs;
  }
  TaskDeque* own = deque_of(self);
  // The youngest first: the oldest comes out first again.
  for (int i = count - 1; i > 0; --i) own->push(loot[static_cast<size_t>(i)]);
  if (count > 1) {
    call_to_tasks(self->team, self);
    for (int i = 0; i < distinct; ++i) wake(waiters[static_cast<size_t>(i)]);
  }
  return loot[0];
}

// Steals any task, for a member that has begun no task but the implicit one.
Task* steal_any(Member* self) noexcept {
  const auto any = [](const Task*) { return true; };
  // Where tasks may be paused, the tasks of a deque stay in their order: a member that comes back counts on it.
  if (self->lacks_deque || tasks_may_pause()) return steal(self, any);
  return search(self, next_to(self), INT_MAX, [&](TaskDeque* deque) { return take_several(self, deque, any); }, any);
}

// Whether the member may keep the ends that it has counted to itself while this task runs: contexts that wait for those
// ends have to wait for this task as well. The member does not keep many: the monitor sees by the counts that the
// region gets on.
bool may_join(const UncountedEnds& ends, const Task* task) noexcept {
  constexpr uint32_t kMost = 16;
  return ends.executed < kMost && (ends.children == 0 || (task->parent.load(std::memory_order_relaxed) == ends.parent &&
                                                          task->group == ends.group));
}

// Runs a task that waits for a free agent and that the member may run.
bool run_given_task(Member* self) noexcept {
  const auto permitted = [](const Task* task, const Member* by) {
    return by->task->implicit ? task->team == by->team : descends(task, by->task);
  };
  Task* task = take_given(permitted, self);
  if (task == nullptr) return false;
  run_given(self, task);
  return true;
}

bool deque_may_have_been_shared(const Member* self) noexcept {
  // Relaxed: this thread has been paused itself, or has synchronized with the contexts that were.
  return tasks_may_pause() ||
         self->team->members.lines[self->number].shared.has_been_shared.load(std::memory_order_relaxed);
}

}  // namespace

TaskDeque* deque_of_thief(const Member* self) noexcept {
  const int thief = self->task->thief.load(std::memory_order_relaxed);
  // The task may be one of another team: that of a stand-in's or an agent's number.
  return thief >= 0 && thief < self->team->size ? deque_at(self->team, thief) : nullptr;
}

bool run_own_task(Member* self) noexcept {
  Task* now = self->task;
  Task* task = take_urgent(self->team, [now](const Task* other) { return now->implicit || descends(other, now); });
  if (task == nullptr && self->deque != nullptr) task = self->deque->pop(now->floor);
  if (task == nullptr) return false;
  run_pushed(self, task);
  return true;
}

bool run_others_task(Member* self, Search where) noexcept {
  Task* now = self->task;
  const auto descendant = [now](const Task* other) { return descends(other, now); };
  Task* task = nullptr;
  if (now->implicit) {
    task = steal(self, [](const Task*) { return true; });
  } else {
    task = where == Search::everywhere ? steal(self, descendant)
           : where == Search::in_some  ? steal_from_some(self, descendant)
                                       : steal_back(self, descendant);
  }
  if (task != nullptr) leave_trace(self, task);
  // Others may have had its own deque while it was paused: tasks below the floor may be its children.
  if (task == nullptr && self->deque != nullptr && deque_may_have_been_shared(self))
    task = self->deque->steal([now](const Task* other) { return now->implicit || descends(other, now); });
  if (task == nullptr) return run_given_task(self);
  run_pushed(self, task);
  return true;
}

namespace {

bool is_in(const Task* task, const TaskGroup* group) noexcept {
  const TaskGroup* around = task->group;
  while (around != nullptr && around != group) around = around->outer;
  return around == group;
}

// A child of the current task that is in the inbox: one with a priority, or made by a context without a deque.
Task* take_given_child(const Member* self, const TaskGroup* group) noexcept {
  TaskInbox& inbox = self->team->tasks.inbox;
  if (inbox.size() == 0) return nullptr;
  return inbox.take([=, now = self->task](const Task* task) {
    return task->parent.load(std::memory_order_relaxed) == now && (group == nullptr || is_in(task, group));
  });
}

}  // namespace

bool run_own_child(Member* self, const TaskGroup* group) noexcept {
  Task* task = take_given_child(self, group);
  if (task == nullptr && self->deque != nullptr) {
    // A thief may have taken it, and it may have become another task. Then pop() gives none.
    const Task* last = self->deque->last();
    if (last != nullptr && last->parent.load(std::memory_order_relaxed) == self->task)
      task = self->deque->pop(self->task->floor);
    if (task != nullptr && group != nullptr && !is_in(task, group)) {
      put_back(self, task);
      task = nullptr;
    }
  }
  if (task == nullptr) return false;
  run_pushed(self, task);
  return true;
}

Task* take_any_task(Member* self) noexcept {
  Task* task = take_urgent(self->team, [](const Task*) { return true; });
  if (task == nullptr && self->deque != nullptr) task = self->deque->pop(INT64_MIN);
  if (task == nullptr) {
    task = steal_any(self);
    if (task != nullptr) leave_trace(self, task);
  }
  return task;
}

void put_back(Member* self, Task* task) noexcept {
  // Read before others can take the task: a task that has ended leaves its record to another one.
  const Waiters waiters = waiters_for(task);
  self->team->tasks.inbox.put(task);
  call_to_tasks(self->team, nullptr);
  wake(waiters);
}

bool run_taken(Member* self, Task* task) noexcept {
  // Read once: a process may begin to pause tasks at any time.
  const bool pauses = tasks_may_pause();
  if (task == nullptr || pauses || !may_join(self->uncounted_ends, task)) tell_ends(self);
  if (task == nullptr) return false;
  // The member may have been recalled before it went off call: then no other member is called until it answers.
  if (self->team->persistent_team != nullptr && self->team->size > 2) answer_recall(self);
  if (pauses) {
    run_pushed(self, task);
  } else {
    run_task(self, task, Telling::later);
    ++self->uncounted_ends.executed;
  }
  return true;
}

}  // namespace weft::openmp
