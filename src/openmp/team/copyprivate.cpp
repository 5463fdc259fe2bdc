// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/copyprivate.h"

#include "openmp/record/team.h"
#include "openmp/team/cancelled_copies.h"

namespace weft::openmp {

void* exchange_copies(Member* self, void* offered, Barrier kind, const void* caller) noexcept {
  Team* team = self->team;
  // Relaxed, here and below: the barrier orders it.
  if (offered != nullptr) team->loops.copyprivate.store(offered, std::memory_order_relaxed);
  barrier(self, kind, caller);
  // Either no member sees it here or all do: one that has left never comes to this barrier.
  if (__builtin_expect(team->cancelled.load(std::memory_order_relaxed), 0) && team->size > 1)
    return begin_copies(self, offered);
  return team->loops.copyprivate.load(std::memory_order_relaxed);
}

}  // namespace weft::openmp
