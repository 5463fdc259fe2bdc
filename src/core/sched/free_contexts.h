// SPDX-License-Identifier: Apache-2.0
// Free contexts: each carrier has some at hand and puts the others on a shelf of its own, where every carrier that runs
// short looks before it makes one. So there are no more than have been suspended at once, and a few for each carrier.
// Internal to core.
#pragma once

#include <cstdint>

#include "core/sched/free_lists.h"

namespace weft::core {

// A context that has not served the parallel call `avoid` last (0: any) and has been born since the identities were
// last asked to end: at hand, on this carrier's shelf, or on another one's. Null when there is none.
Context* find_free(Carrier* carrier, uint64_t avoid) noexcept;

// At hand only, and whenever it has been born.
Context* find_at_hand(Carrier* carrier, uint64_t avoid) noexcept;

// The same as find_free(); made when there is none; and if that is refused any that is free. Null: there is none.
Context* take_free(Carrier* carrier, uint64_t avoid) noexcept;

// A new one; null when the system refuses it, which is said and remembered where it was needed.
Context* make_free(bool needed = true) noexcept;

// Makes new ones, on the carrier's shelf, so that so many lie on all shelves together, as far as the system lets it.
void stock_shelf(Carrier* carrier, int count) noexcept;

// Gives one back, at its own carrier.
void put_free(Carrier* carrier, Context* context) noexcept;

// What is left of a context's last work ends: it is free.
void shed(Carrier* carrier, Context* context) noexcept;

// Puts all that are at hand but `kept` on the shelf, where others find them: it falls asleep.
void shelve(Carrier* carrier, int kept) noexcept;

}  // namespace weft::core
