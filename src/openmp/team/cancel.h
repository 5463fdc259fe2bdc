// SPDX-License-Identifier: Apache-2.0
// Cancellation (OpenMP 5.2, section 16). Nothing is ever cancelled unless OMP_CANCELLATION allows it.
#pragma once

#include "openmp/record/team.h"
#include "openmp/task/dropped.h"
#include "openmp/team/barrier.h"

namespace weft::openmp {

enum class Construct : uint8_t {
  parallel,
  loop,
  sections,  // as loop: a member is in one worksharing construct at most
  taskgroup,
};

// Whether OMP_CANCELLATION allows it.
bool cancellation_enabled() noexcept;

// Whether the innermost enclosing construct of that kind has been cancelled.
bool is_cancelled(const Member* self, Construct construct) noexcept;
// The same, asked by the program: a cancellation point.
bool cancellation_point(Member* self, Construct construct) noexcept;

// Cancels it; true if that was done.
bool cancel(Member* self, Construct construct) noexcept;

// A barrier that a cancelled region has none of: true if it is cancelled.
bool cancellable_barrier(Member* self, Barrier kind, const void* caller) noexcept;

// A cancelled region has no barriers: its members leave it from wherever they are. Relaxed: a member that sees it late
// waits on.
inline bool is_over(const Team* team) noexcept { return team->cancelled.load(std::memory_order_relaxed); }

// At the end of a region. A loop that was cancelled and whose end is the region's has no barrier of its own behind
// which the note of it would be stale: the next region's first loop has the same number.
inline void forget_cancelled_loop(Team* team) noexcept {
  if (__builtin_expect(g_any_cancelled.load(std::memory_order_relaxed), 0))
    team->loops.cancelled.store(0, std::memory_order_relaxed);
}

// All members of a cancelled region have left it, at different places: the record is made good for the next one.
void restore_after_cancellation(Team* team, Member* primary) noexcept;

}  // namespace weft::openmp
