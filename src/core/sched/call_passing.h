// SPDX-License-Identifier: Apache-2.0
// Each piece of work calls one carrier. A carrier that has been called and does something else passes its call on, so
// that no piece is left without one. Internal to core.
#pragma once

#include "core/sched/carrier.h"
#include "platform/fence.h"

namespace weft::core {

// For a carrier that has been called: it goes on with `work`, and calls another carrier if other work is in sight.
// `uncalled`: the work is one that this carrier alone can do, so that no call was made for it.
void settle(Carrier* carrier, Work work, bool uncalled) noexcept;

// To be called before a carrier goes to work.
[[gnu::always_inline]] inline void settle_call(Carrier* carrier, Work work, bool uncalled) noexcept {
  if (__builtin_expect(carrier->call != Carrier::Call::none, 0)) settle(carrier, work, uncalled);
}

// For a carrier that has been called and may not run any more: another carrier is called in its place.
void decline_call(Carrier* carrier) noexcept;

// A poke counts as a call. A thread that still sees the poke has published its work before the carrier looks for some.
inline void take_poke(Carrier* carrier) noexcept {
  if (!carrier->poked.load(std::memory_order_relaxed)) return;
  carrier->poked.exchange(false);
  platform::full_fence_after_update();
  carrier->call = Carrier::Call::open;
}

}  // namespace weft::core
