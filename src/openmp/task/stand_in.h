// SPDX-License-Identifier: Apache-2.0
// Stand-ins for members whose tasks are paused (weft/task.h). A pause leaves the member's stack with all tasks on it,
// so somebody else has to run the team's other tasks in its place: a stand-in, a context of its own with the member's
// thread number. It goes when its member has come back. When its own task is paused, another stands in for it.
//
// Numbers. Of the contexts of a number one at a time is active, as a rule: not paused. A member that goes on while its
// stand-in runs a task makes it two, until that task has ended. A task that has asked for its thread number may keep
// something by it (scratch memory): no other task gets the number while it is paused, and none that asks too runs
// beside it. Only if nobody would be left to run the team's tasks is the number shared all the same: where tasks wait
// for each other's messages, the program would stop.
//
// Deques. A deque has one owner: of the contexts of a number the one that has taken it. It gives it up when it is
// paused, sleeps, or lets those go first that can go on. What the others create goes to the team's inbox, and is
// counted there.
#pragma once

#include <cstdint>

#include "openmp/task/free_agent.h"
#include "openmp/team/team.h"

namespace weft::openmp {

// Brackets a pause of the caller's task: sees to it that somebody runs the team's other tasks.
class Absence {
 public:
  explicit Absence(Member* self) noexcept;
  // Whether its thread number is kept for it.
  Absence(Member* self, bool keeps_number) noexcept;
  ~Absence();
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;

 private:
  void leave(bool keeps_number) noexcept;

  Member* const self_;
  const bool counted_;  // in a team whose tasks are not run when they are created
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

// The caller's task, which has asked for its number, has ended.
void release_number(Member* self, Task* task) noexcept;

// Between two tasks, in a process whose tasks may be paused: those that can go on go first.
void let_paused_go_on(Member* self) noexcept;

}  // namespace weft::openmp
