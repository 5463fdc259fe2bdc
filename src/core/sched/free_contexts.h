// SPDX-License-Identifier: Apache-2.0
// Free contexts. Each carrier has some at hand and puts the others on a shelf of its own; a carrier that runs short
// looks at all shelves before it makes a context. So there are no more contexts than have been suspended at once, and a
// few for each carrier. Internal to core.
#pragma once

#include <cstdint>

#include "core/sched/free_lists.h"

namespace weft::core {

// Takes a free context that has not served the parallel call `avoid` last (0: any), and that is younger than the last
// request to end identities: one at hand, or on this carrier's shelf, or on another carrier's. Null: there is none.
Context* find_free(Carrier* carrier, uint64_t avoid) noexcept;

// The same among those at hand only, whatever their age.
Context* find_at_hand(Carrier* carrier, uint64_t avoid) noexcept;

// The same as find_free(); makes a context where there is none; where the system refuses that, takes any free one.
// Null: there is none, or none that fits and the pool has enough (enough_contexts()).
// Without `may_lack` the pool never has enough.
Context* take_free(Carrier* carrier, uint64_t avoid, bool may_lack = false) noexcept;

// Makes a context; null where the system refuses it. Where it was needed, that is said to the user and remembered.
Context* make_free(bool needed = true) noexcept;

// Makes contexts, on the carrier's shelf, until `count` lie on all shelves together, as far as the system lets it.
void stock_shelf(Carrier* carrier, int count) noexcept;

// Puts a context that has no more work back among the free ones of the carrier.
void put_free(Carrier* carrier, Context* context) noexcept;

// Ends what is left of a context's last work, so that it is free.
void shed(Carrier* carrier, Context* context) noexcept;

// For a carrier that falls asleep: puts all contexts at hand but `kept` on the shelf, where others find them.
void shelve(Carrier* carrier, int kept) noexcept;

}  // namespace weft::core
