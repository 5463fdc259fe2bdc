// SPDX-License-Identifier: Apache-2.0
// Contexts that yield to each other may all wait for one in the list of a carrier that is busy with something else, or
// that has no CPU. Their carrier never runs out of work, so it would not look there. Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct Carrier;
struct Context;

// Of a carrier: once all contexts of its list have had their turn it looks at the list of one other carrier, and
// watches it for a round.
struct YieldRound {
  int turns_left = 0;
  int watched = 0;  // index of the carrier
  uint32_t taken = 0;  // how many contexts had been taken from its list when the watch began
};

// To be called where a context yields to `carrier`'s list. Returns a context of another carrier's list that nobody has
// taken anything from for a round; mostly null.
Context* take_from_standing_list(Carrier* carrier) noexcept;

}  // namespace weft::core
