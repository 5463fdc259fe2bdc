// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/dropped.h"

#include "openmp/record/team.h"
#include "openmp/task/task.h"

namespace weft::openmp {

std::atomic<bool> g_any_cancelled{false};

bool is_cancelled(const TaskGroup* group) noexcept {
  for (; group != nullptr; group = group->outer) {
    if (group->cancelled.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

bool is_dropped_after_all(const Task* task) noexcept {
  // A task with an event is not dropped: its own body may be what fulfils the event.
  if (expects_events(task)) return false;
  return is_cancelled(task->group) || team_of_task(self())->cancelled.load(std::memory_order_relaxed);
}

}  // namespace weft::openmp
