// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/cancel.h"

#include <cstdlib>

#include "base/options.h"
#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/team/barrier.h"
#include "openmp/team/cancelled_copies.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// A worksharing construct that may be cancelled has a barrier at its end, so all its members have passed the same
// number of them; what is kept is that number, never 0, and is stale by itself behind the barrier.
uint32_t number_of_loop(const Member* self) noexcept { return self->barriers + 1; }

void cancel_region(Team* team) noexcept {
  team->cancelled.store(true, std::memory_order_relaxed);
  // Against those that fall asleep: they look at the flag after they have announced themselves.
  platform::full_fence();
  if (team->size == 1) return;
  team->barrier.queue.release();
  for (int i = 0; i < team->size; ++i) {
    if (core::Context* sleeper = team->members.lines[i].sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
    if (core::Context* waiter = team->members.lines[i].in_line.load(std::memory_order_acquire)) core::unblock(waiter);
  }
}

}  // namespace

bool cancellation_enabled() noexcept { return base::options().cancellation; }

bool is_cancelled(const Member* self, Construct construct) noexcept {
  if (!cancellation_enabled()) return false;
  // Relaxed: a member that sees it later stops later.
  if (construct == Construct::loop || construct == Construct::sections) {
    return self->team->loops.cancelled.load(std::memory_order_relaxed) == number_of_loop(self);
  }
  // A cancelled region cancels its tasks too.
  if (construct == Construct::taskgroup && is_cancelled(self->task->group)) return true;
  return team_of_task(self)->cancelled.load(std::memory_order_relaxed);
}

bool cancellation_point(Member* self, Construct construct) noexcept {
  const bool cancelled = is_cancelled(self, construct);
  if (cancelled) tool::cancel(self, construct, true);
  if (cancelled && construct == Construct::parallel && self->task->implicit) leave_cancelled(self);
  return cancelled;
}

bool cancel(Member* self, Construct construct) noexcept {
  if (!cancellation_enabled()) return false;
  tool::cancel(self, construct, false);
  g_any_cancelled.store(true, std::memory_order_relaxed);
  switch (construct) {
    case Construct::parallel:
      cancel_region(self->team);
      if (self->task->implicit) leave_cancelled(self);
      return true;
    case Construct::loop:
    case Construct::sections:
      self->team->loops.cancelled.store(number_of_loop(self), std::memory_order_relaxed);
      return true;
    case Construct::taskgroup: {
      TaskGroup* group = self->task->group;
      while (group != nullptr && group->implied) group = group->outer;
      if (group == nullptr) return is_cancelled(self, construct);
      group->cancelled.store(true, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

bool cancellable_barrier(Member* self, Barrier kind, const void* caller) noexcept {
  barrier(self, kind, caller);
  if (!self->team->cancelled.load(std::memory_order_relaxed)) return false;
  leave_cancelled(self);
  return true;
}

void restore_after_cancellation(Team* team, Member* primary) noexcept {
  team->cancelled.store(false, std::memory_order_relaxed);
  team->barrier.arrived.store(0, std::memory_order_relaxed);
  team->barrier.passed.store(primary->barriers, std::memory_order_relaxed);
  team->loops.next_single.store(primary->singles, std::memory_order_relaxed);
  team->loops.copies.store(0, std::memory_order_relaxed);
  team->loops.copies_done.store(0, std::memory_order_relaxed);
  for (int i = 0; i < team->size; ++i) {
    team->members.lines[i].left.store(false, std::memory_order_relaxed);
    team->members.lines[i].copied.store(0, std::memory_order_relaxed);
  }
  for (Workshare& share : team->loops.ring) {
    std::free(share.posted);
    std::free(share.memory);
    share.posted = nullptr;
    share.memory = nullptr;
    // As if it had never served: older than every construct to come.
    share.state.store(1, std::memory_order_relaxed);
  }
}

}  // namespace weft::openmp
