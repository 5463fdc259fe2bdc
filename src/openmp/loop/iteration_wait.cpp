// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/iteration_wait.h"

namespace weft::openmp {

void call_waiters(const Team* team, const Workshare* share, uint64_t number) noexcept {
  if (share->in_line.load(std::memory_order_relaxed) == 0) return;
  for (int i = 0; i < team->size; ++i) {
    core::Context* waiter = team->members.lines[i].in_line.load(std::memory_order_acquire);
    if (waiter != nullptr && team->members.lines[i].awaited.load(std::memory_order_relaxed) == number)
      core::unblock(waiter);
  }
}

}  // namespace weft::openmp
