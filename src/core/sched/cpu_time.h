// SPDX-License-Identifier: Apache-2.0
// The CPU time of contexts: that of all their turns, on whatever OS threads. Counted by switches, for contexts that
// have asked: what lies between two questions is known only if each switch in between has read the clock, however long
// ago the first of them was. So the count of a context ends with its identity, and others pay for none. Internal to
// core.
#pragma once

namespace weft::core {

struct Context;

// By a context that is about to leave its carrier, and by one that has gone on; as long as any counts.
void count_turn_before_leave(Context* self) noexcept;
void begin_counted_turn(Context* self) noexcept;

}  // namespace weft::core
