// SPDX-License-Identifier: Apache-2.0
// Contexts that yield to each other may all wait for work of a carrier that is busy with something else, or has no CPU.
// Their own carrier never runs out of contexts, so it would not look there. Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct Carrier;

// Of a carrier: once all contexts of its list have had their turn it looks at one other carrier, and watches it for a
// round. Touched by the carrier only.
struct YieldRound {
  int turns_left = 0;
  int more_turns = 0;  // than there are contexts
  int watched = 0;  // index of the carrier
  uint64_t trace = ~uint64_t{0};  // of what has been taken from there; at first of nobody
  // One that has work which nobody has taken for a round: it is served before the own list. Null: none.
  Carrier* serves_first = nullptr;
};

// Whether the carrier serves only work that is to be done on its NUMA node, and at its place.
bool looks_near(const Carrier* carrier) noexcept;

// To be called where a context yields to `carrier`'s list. Whether another carrier is to be served first; mostly not.
bool ends_round(Carrier* carrier) noexcept;

}  // namespace weft::core
