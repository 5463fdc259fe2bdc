// SPDX-License-Identifier: Apache-2.0
// Stand-ins for members whose tasks are paused (weft/task.h). README.md beside this file has the states.
//
// A pause leaves the member's stack with all tasks on it, so another context has to run the team's other tasks in the
// member's place. That is a stand-in: a context of its own with the member's thread number. It leaves when its member
// has come back. When the stand-in's own task is paused, another stand-in takes its place.
//
// Teams around. A task may open a region, and a task of that region may be paused. The pause holds up the member that
// runs the outer task, since that member lies below on the same stack. So that member is away too, from its team, and
// so on outwards. The same holds while a member waits for others of its region and one of these is away.
//
// Numbers. Of the contexts that have a number, one at a time is active, that is not paused, as a rule. A member that
// goes on while its stand-in runs a task makes it two, until that task has ended. A task that has asked for its thread
// number may keep something by it (own_number.h):
//  - While such a task is paused, no stand-in is called for its member, and a stand-in that is there leaves after its
//    task. Tasks of the number that have begun go on, and so share it.
//  - Where no context would be left to run the team's tasks, the number is shared all the same: tasks may wait for each
//    other's messages, and then the program would stop.
//
// Deques. A deque has one owner: one of the contexts that have its number. The owner gives the deque up when it is
// paused and another context is active or is called in its place, when it sleeps, and when it lets paused tasks go on
// first. The tasks that other contexts of the number create go to the team's inbox, and are counted there.
#pragma once

#include <cstdint>

#include "core/api/budget.h"
#include "openmp/record/team.h"
#include "openmp/task/free_agent.h"

namespace weft::openmp {

// Brackets a pause of the caller's task: while it lasts, others run the tasks of the caller's team and of the teams
// around. The pause may end early, as block() may.
class Absence {
 public:
  // `self`: the caller; or the innermost member below it on the same stack that is to be away.
  explicit Absence(Member* self) noexcept;
  ~Absence();
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;

 private:
  Member* const first_;
  Member* end_;  // the first member below those that this pause has taken away
};

// The two halves of the brackets. depart_all() takes away the members on the caller's stack from `first` outwards, up
// to the first one that is away already, and returns that one. keeps_number(member): as far as possible no stand-in is
// to run under that member's number.
Member* depart_all(Member* first, bool (*keeps_number)(const Member*) noexcept) noexcept;
void come_back_all(Member* first, const Member* end) noexcept;

// Whether stand-ins may run tasks under the member's number: not under a free agent's, and not in a team whose tasks
// run when they are created.
inline bool has_stand_ins(const Member* member) noexcept {
  const Team* team = member->team;
  return member->number >= 0 && defers_tasks(team) &&
         member->number < team->members.capacity.load(std::memory_order_relaxed);
}

// Brackets a wait for a lock whose holder may be a paused task. As long as other members are there to run the tasks of
// the teams concerned, no stand-in is called: the task that it would run may want the same lock.
class LockWait {
 public:
  // `self` is null where nothing is to be done.
  explicit LockWait(Member* self) noexcept;
  ~LockWait();
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

 private:
  Member* const first_;
  Member* end_;  // as Absence::end_
  const AgentAbsence agent_;
};

// block_between_tasks() by a task that waits for other tasks. These may be tasks that must not run on top of it. So in
// a process whose tasks may be paused, the wait is a pause. It returns early where the system refuses a thread for the
// first time: then there may be no stand-in.
template <class Done>
void block_in_task_unless(Member* self, Done&& done) noexcept {
  if (!tasks_may_pause()) return block_between_tasks_unless(self, done);
  const bool refused = core::threads_refused();
  const Absence absence(self);
  // The stand-in runs the tasks that there are.
  while (!done() && core::threads_refused() == refused) block_between_tasks_unless(self, done);
}

// Whether the caller is in an inner region, and its stack holds up a member of a team around that defers tasks, or a
// free agent.
inline bool holds_up_others(const Member* self) noexcept {
  if (!tasks_may_pause()) return false;
  for (const Member* member = self->outer; member != nullptr; member = member->outer) {
    if (defers_tasks(member->team) || member->team->agent_of != nullptr) return true;
  }
  return false;
}

// block_between_tasks() by a member that waits for others of its team and runs the team's tasks. If one of the others
// is away, or looks again and again for what others do, the members that the caller holds up are away during the wait.
// May return early.
template <class Done>
void block_in_team_unless(Member* self, Done&& done) noexcept {
  if (!holds_up_others(self)) return block_between_tasks_unless(self, done);
  TeamTasks& tasks = self->team->tasks;
  // An event may be a message for which no task is paused: the wait for it may last as well.
  const auto lasts = [&tasks] { return tasks.away.load() > 0 || tasks.detached.load() > 0 || tasks.looks.load(); };
  if (lasts()) {
    const Absence absence(self->outer);
    block_between_tasks_unless(self, done);
    // Relaxed: a thread that still looks says so again.
    if (done()) tasks.looks.store(false, std::memory_order_relaxed);
    return;
  }
  tasks.holding_up.fetch_add(1);
  block_between_tasks_unless(self, [&] { return done() || lasts(); });
  // Relaxed: a thread that sees the old count wakes this one for nothing.
  tasks.holding_up.fetch_sub(1, std::memory_order_relaxed);
}

// Called by a task that looks again and again for what others do, in a process whose tasks may be paused. Contexts that
// wait for its number go first, and members that wait for the task do not hold up teams around. Returns whether a
// context has gone first.
bool let_awaited_go_on(Member* self) noexcept;

// Called between two tasks, in a process whose tasks may be paused: paused tasks that can go on do so first.
void let_paused_go_on(Member* self) noexcept;

}  // namespace weft::openmp
