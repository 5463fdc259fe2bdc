// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/cancelled_copies.h"

#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Unlike the counter never 0.
uint64_t construct_of(const Member* self) noexcept { return uint64_t{self->singles} + 1; }

void wake_all(const Team* team) noexcept {
  platform::full_fence();
  for (int i = 0; i < team->size; ++i) {
    if (core::Context* waiter = team->members.lines[i].in_line.load(std::memory_order_acquire)) core::unblock(waiter);
  }
}

template <class Ready>
void wait_until(Member* self, Ready&& ready) noexcept {
  MemberLine& line = self->team->members.lines[self->number];
  while (!core::spin_until(self->context, ready)) {
    // Release: with the context comes its state.
    line.in_line.store(self->context, std::memory_order_release);
    platform::full_fence();
    block_in_task_unless(self, ready);
    // Relaxed: a member that sees it late wakes this one for nothing.
    line.in_line.store(nullptr, std::memory_order_relaxed);
  }
}

}  // namespace

// Release, here and below: what the member has done, reading the values too, comes before what a member that sees this
// does.
void leave_cancelled(Member* self) noexcept {
  const Team* team = self->team;
  if (team->size == 1) return;
  self->copying = false;
  std::atomic<bool>& left = team->members.lines[self->number].left;
  // Relaxed: the member's own.
  if (left.load(std::memory_order_relaxed)) return;
  left.store(true, std::memory_order_release);
  wake_all(team);
}

void* begin_copies(Member* self, void* offered) noexcept {
  Team* team = self->team;
  TeamLoops& loops = team->loops;
  const uint64_t construct = construct_of(self);
  self->copying = true;
  if (offered != nullptr) {
    // Relaxed: the number is stored behind it.
    loops.copyprivate.store(offered, std::memory_order_relaxed);
    loops.copies.store(construct, std::memory_order_release);
    wake_all(team);
    return offered;
  }
  // Acquire: the pointer, and what it points to.
  wait_until(self, [&] { return loops.copies.load(std::memory_order_acquire) == construct; });
  return loops.copyprivate.load(std::memory_order_relaxed);
}

void end_copies(Member* self) noexcept {
  Team* team = self->team;
  TeamLoops& loops = team->loops;
  const uint64_t construct = construct_of(self);
  self->copying = false;
  MemberLine* lines = team->members.lines;
  lines[self->number].copied.store(construct, std::memory_order_release);
  // The member that comes last finds that all have done.
  const auto all_done = [&] {
    for (int i = 0; i < team->size; ++i) {
      // Acquire: as above.
      if (lines[i].copied.load(std::memory_order_acquire) != construct &&
          !lines[i].left.load(std::memory_order_acquire))
        return false;
    }
    return true;
  };
  const auto over = [&] { return loops.copies_done.load(std::memory_order_acquire) == construct || all_done(); };
  wake_all(team);
  wait_until(self, over);
  loops.copies_done.store(construct, std::memory_order_release);
  wake_all(team);
}

}  // namespace weft::openmp
