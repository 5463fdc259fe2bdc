// SPDX-License-Identifier: Apache-2.0
// The ordered construct without depend clauses (OpenMP 5.2, section 15.10.2). A loop's turn is the number of the first
// iteration whose ordered region has not been passed. The turn goes on by units: an iteration, where the program says
// when one ends, else a chunk.
#pragma once

#include <cstdint>

#include "openmp/loop/worksharing.h"

namespace weft::openmp {

struct Member;

// As begin_loop(), for a loop with an ordered clause.
void begin_ordered_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count) noexcept;

// The member starts a unit: iterations begin .. end-1.
void begin_unit(Member* self, uint64_t begin, uint64_t end) noexcept;
// It is over: passes the turn on if no ordered region has. Nothing if the member is in no unit.
void end_unit(Member* self) noexcept;

// Bracket an ordered region: waits until all units before have been passed.
void begin_ordered(Member* self) noexcept;
// The wait alone.
void await_ordered(Member* self) noexcept;
void end_ordered(Member* self) noexcept;

}  // namespace weft::openmp
