// SPDX-License-Identifier: Apache-2.0
// The CPU time of contexts: that of all their turns, on whatever OS threads. Switches count it, for contexts that have
// asked for it: the time between two questions is known only if each switch in between has read the clock. So the count
// of a context goes on until its identity ends, and contexts that have not asked pay nothing. Internal to core.
#pragma once

namespace weft::core {

struct Context;

// Called by a context that is about to leave its carrier, and by one that has gone on, while any context counts.
void count_turn_before_leave(Context* self) noexcept;
void begin_counted_turn(Context* self) noexcept;

}  // namespace weft::core
