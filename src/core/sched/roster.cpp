// SPDX-License-Identifier: Apache-2.0
#include "core/context/roster.h"

#include "core/context/donor.h"
#include "core/sched/pool.h"

namespace weft::core {

uintptr_t own_identity(pid_t thread) noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  if (p == nullptr) return 0;
  const int count = p->carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p->carrier(i);
    if (carrier->thread_id.load(std::memory_order_relaxed) != thread) continue;
    // Relaxed: what a thread wrote itself, before it ran anything else.
    const uintptr_t identity = carrier->own_identity.load(std::memory_order_relaxed);
    if (identity != 0) return identity;
  }
  // A donor has another one while it runs handlers of signals.
  const Donor* donor = p->contexts.all();
  while (donor != nullptr && donor->thread_id != thread) donor = donor->next_of_all;
  return donor != nullptr ? donor->thread_pointer : 0;
}

}  // namespace weft::core
