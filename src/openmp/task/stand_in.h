// SPDX-License-Identifier: Apache-2.0
// Stand-ins for members whose tasks are paused (weft/task.h). A pause leaves the member's stack with all tasks on it,
// so somebody else has to run the team's other tasks in its place: a stand-in, a context of its own with the member's
// thread number. It goes when its member has come back. When its own task is paused, another stands in for it.
//
// Teams around. What is paused in a region that a task has opened holds up the member that runs the task, which lies
// below on the same stack: that member is away as well, from its team, and so on outwards. The same holds while a
// member waits for others of its region of which one is away.
//
// Numbers. Of the contexts of a number one at a time is active, as a rule: not paused. A member that goes on while its
// stand-in runs a task makes it two, until that task has ended. A task that has asked for its thread number may keep
// something by it (own_number.h):
//  - While it is paused, no stand-in is called, and one that is there leaves after its task. Tasks of the number that
//    have begun go on, and so share it.
//  - If nobody would be left to run the team's tasks, the number is shared all the same: where tasks wait for each
//    other's messages, the program would stop.
//
// Deques. A deque has one owner: of the contexts of a number the one that has taken it. It gives it up to another one:
// when it is paused and one is active, or called in its place; when it sleeps; when it lets those go first that can go
// on. What the others create goes to the team's inbox, and is counted there.
#pragma once

#include <cstdint>

#include "openmp/record/team.h"
#include "openmp/task/free_agent.h"

namespace weft::openmp {

// Brackets a pause of the caller's task: sees to it that somebody runs the other tasks of its team and of those around.
// The pause may end before what it waits for, as block() may.
class Absence {
 public:
  // By the caller, or by the member below it on its stack that is the innermost one to be away.
  explicit Absence(Member* self) noexcept;
  ~Absence();
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;

 private:
  Member* const first_;
  Member* end_;  // the first below those that this pause has taken away
};

// What brackets are made of: the members on the caller's stack from `first` outwards that are not away yet are from now
// on; the first one below them. `keeps_number`: as far as possible nobody is called under the member's number.
Member* depart_all(Member* first, bool (*keeps_number)(const Member*) noexcept) noexcept;
void come_back_all(Member* first, const Member* end) noexcept;

// Whether others may run tasks under the member's number: not under a free agent's, nor in a team whose tasks are run
// when they are created.
inline bool has_stand_ins(const Member* member) noexcept {
  const Team* team = member->team;
  return member->number >= 0 && defers_tasks(team) &&
         member->number < team->members.capacity.load(std::memory_order_relaxed);
}

// Brackets a wait for a lock that stands still. The holder may be a paused task. While others are there to run the
// tasks of the teams concerned, nobody stands in, as another task may want the same lock.
class LockWait {
 public:
  // Null: nothing is to be done.
  explicit LockWait(Member* self) noexcept;
  ~LockWait();
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

 private:
  Member* const first_;
  Member* end_;  // as Absence::end_
  const AgentAbsence agent_;
};

// block_between_tasks() by a task that waits for others, which may be none that can run on top of it. So in a process
// whose tasks may be paused, this is a pause.
template <class Done>
void block_in_task_unless(Member* self, Done&& done) noexcept {
  if (!tasks_may_pause()) return block_between_tasks_unless(self, done);
  const Absence absence(self);
  // Whoever stands in runs what there is to run.
  while (!done()) block_between_tasks_unless(self, done);
}

// Whether the caller's stack holds up a member of another team that has tasks to run, or a free agent: the caller is in
// a region inside.
inline bool holds_up_others(const Member* self) noexcept {
  if (!tasks_may_pause()) return false;
  for (const Member* member = self->outer; member != nullptr; member = member->outer) {
    if (defers_tasks(member->team) || member->team->agent_of != nullptr) return true;
  }
  return false;
}

// block_between_tasks() by a member that waits for others of its team and runs the team's tasks. If one of them is
// away, or looks again and again for what others do, so are the members that the caller holds up. May return early.
template <class Done>
void block_in_team_unless(Member* self, Done&& done) noexcept {
  if (!holds_up_others(self)) return block_between_tasks_unless(self, done);
  TeamTasks& tasks = self->team->tasks;
  // Events are messages that nobody is paused for.
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
  // Relaxed: who looks late wakes it for nothing.
  tasks.holding_up.fetch_sub(1, std::memory_order_relaxed);
}

// By a task that looks again and again for what others do, in a process whose tasks may be paused: those go first that
// wait for its number, and those that wait for it do not hold up teams around. True: somebody has gone first.
bool let_awaited_go_on(Member* self) noexcept;

// Between two tasks, in a process whose tasks may be paused: those that can go on go first.
void let_paused_go_on(Member* self) noexcept;

}  // namespace weft::openmp
