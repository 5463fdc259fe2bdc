// SPDX-License-Identifier: Apache-2.0
// A carrier that has been called for work answers for it: it comes, or it sees to it that another one does. Internal to
// core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// Before a carrier goes to work for `work.group`. `uncalled`: on what it alone can do, so that nobody else is called
// for it.
[[gnu::noinline]] void settle(Carrier* carrier, Work work, bool uncalled) noexcept;

[[gnu::always_inline]] inline void settle_call(Carrier* carrier, Work work, bool uncalled) noexcept {
  if (__builtin_expect(carrier->call != Carrier::Call::none, 0)) settle(carrier, work, uncalled);
}

// Being poked is being called. A carrier that still sees the poke has been poked for work that was published before
// what follows looks for some.
void take_poke(Carrier* carrier) noexcept;

// It has been called, and may not come any more: another one is, in its place.
void decline_call(Carrier* carrier) noexcept;

}  // namespace weft::core
