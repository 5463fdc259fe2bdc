// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/lone_tasks.h"

#include <cstdlib>

#include <pthread.h>

#include "core/api/fork.h"
#include "openmp/task/task.h"
#include "platform/generation.h"

namespace weft::openmp {

namespace {

// The generation of the process that has registered run_left_over(): the child of a fork does not run its parent's
// tasks.
uint32_t g_generation = 0;

// Called when the process ends: runs tasks that no thread has waited for. Tasks that have begun may be paused for good;
// the process can end all the same.
void run_left_over() noexcept {
  Member* member = current_member();
  if (member == nullptr || member->team->root == nullptr || member->stands_in || !member->task->implicit) return;
  if (!member->team->defers_alone || platform::generation() != g_generation) return;
  if (member->team->tasks.tasked.load(std::memory_order_relaxed)) help_with_tasks(member);
}

}  // namespace

void begin_to_defer(Member* self) noexcept {
  Team* team = self->team;
  // A thread that ends an event of one of the team's tasks may be about to look at defers_alone: then it must not
  // change.
  const bool quiet = team->tasks.detached.load(std::memory_order_acquire) == 0 &&
                     team->tasks.helpers.load(std::memory_order_acquire) == 0;
  if (team->agent_of != nullptr || !quiet) return;
  attach_to_pool(self);
  // Without a second context there can be no stand-in.
  if (!core::has_spare() || core::threads_refused()) return;
  reserve_members(team, 1);
  team->started = 1;
  team->partial = false;
  team->gathers = false;
  team->defers_alone = true;
  team->tasks.marks_filled.store(true, std::memory_order_relaxed);
  self->deque = team->members.deques.load(std::memory_order_relaxed)[0].load(std::memory_order_relaxed);
  // Its tasks may need a CPU beside the root's: that has to hold its own.
  if (self->context->home != nullptr) {
    core::enter_region(self->context, 1);
    if (team->root != nullptr) core::leave_region(self->context);
  }
  if (team->root == nullptr) return;
  team->icvs = icvs(self);
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    g_generation = platform::generation();
    std::atexit(run_left_over);
  });
}

void end_deferring(Member* self) noexcept {
  Team* team = self->team;
  if (team->tasks.tasked.load(std::memory_order_relaxed)) drain_at_end(self);
  team->defers_alone = false;
  if (team->root == nullptr && self->context->home != nullptr) core::leave_region(self->context);
}

}  // namespace weft::openmp
