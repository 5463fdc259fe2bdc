// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_pause.h"

#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/settings/startup.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_take.h"

namespace weft::openmp {

void let_tasks_pause() noexcept {
  // Relaxed: as the variable says.
  g_tasks_may_pause.store(true, std::memory_order_relaxed);
  start_runtime();
}

Member* member_to_pause() noexcept {
  Member* member = self();
  attach_to_pool(member);
  return member;
}

namespace {

// Whether tasks wait that a stand-in could run, for the caller or for a member that the caller's stack holds up.
bool tasks_wait(const Member* self) noexcept {
  for (const Member* member = self; member != nullptr; member = member->outer) {
    const Team* team = member->team;
    if (team->tasks.tasked.load(std::memory_order_relaxed) && tasks_in_sight(team)) return true;
  }
  return false;
}

}  // namespace

bool yield_task(Member* self) noexcept {
  core::poll();
  const AgentAbsence agent_absence(self);
  if (tasks_wait(self)) {
    const Absence absence(self);
    core::yield();
    return true;
  }
  const bool others_have = let_awaited_go_on(self);
  return core::yield() || others_have;
}

void block_task(Member* self, Task* task) noexcept {
  if (task->unblocked.exchange(false)) return;
  const Absence absence(self);
  while (!task->unblocked.exchange(false)) block_between_tasks(self);
}

void unblock_task(Task* task) noexcept {
  // Read before: the pause may be over, and its task gone, as soon as the flag is set.
  core::Context* paused = task->context;
  task->unblocked.store(true);
  core::unblock(paused);
}

}  // namespace weft::openmp
