// SPDX-License-Identifier: Apache-2.0
// Members that wait for iterations which others execute: for their turn (ordered.h) or for a post (doacross.h); or for
// a record of the ring, until all have left the construct that it serves (worksharing.h). The side that waits announces
// the iteration's number, fences and looks once more; the side that makes it ready stores, fences and looks for members
// that have announced it. One of the two sees the other.
#pragma once

#include <cstdint>

#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "platform/fence.h"

namespace weft::openmp {

// What is awaited is the record.
inline constexpr uint64_t kNoIteration = UINT64_MAX;

// Waits until `ready()`, which others make true for iteration `number` and then announce by call_waiters().
template <class Ready>
void await_iteration(Member* self, Workshare* share, uint64_t number, Ready&& ready) noexcept {
  MemberLine& line = self->team->members.lines[self->number];
  const Team* team = self->team;
  const auto over = [&] { return ready() || team->cancelled.load(std::memory_order_relaxed); };
  while (!core::spin_until(self->context, over)) {
    // Relaxed: the fence stands between the announcement and the last look, as on the other side. Release: with the
    // context comes the number.
    line.awaited.store(number, std::memory_order_relaxed);
    line.in_line.store(self->context, std::memory_order_release);
    share->in_line.fetch_add(1);
    platform::full_fence_after_update();
    block_in_task_unless(self, over);
    line.in_line.store(nullptr, std::memory_order_relaxed);
    share->in_line.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Wakes the members that wait for iteration `number`. A fence stands between what makes it ready and this.
void call_waiters(const Team* team, const Workshare* share, uint64_t number) noexcept;

}  // namespace weft::openmp
