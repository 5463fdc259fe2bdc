// SPDX-License-Identifier: Apache-2.0
// Order between iterations of a worksharing loop: the ordered construct (OpenMP 5.2, section 15.10.2) and doacross
// loops (15.9.6).
#pragma once

#include <cstdint>

#include "openmp/loop/worksharing.h"

namespace weft::openmp {

struct Member;

// ---- the ordered clause without a parameter ----
// A loop's turn is the number of the first iteration whose ordered region has not been passed. The turn goes on by
// units: an iteration, where the program says when one ends, else a chunk.

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

// ---- doacross loops ----
// Each member that meets the loop begins and ends it. Iterations are numbered in the order of the sequential loop nest.

// Ends the process with a message when there are more loops in the nest than a member has room for.
void check_doacross_loops(int loops) noexcept;

// `rows`: iterations of the outermost loop; `row_length`: of the loops inside it. Without memory the process ends with
// a message.
void begin_doacross(Member* self, uint64_t rows, uint64_t row_length) noexcept;
void end_doacross(Member* self) noexcept;

struct Iteration {
  uint64_t row;  // of the outermost loop
  uint64_t number;  // of the nest
};

// The iteration has posted. Release: a member that waits for it sees what was done before.
void post_iteration(Member* self, const Iteration& iteration) noexcept;
void wait_for_iteration(Member* self, const Iteration& iteration) noexcept;

}  // namespace weft::openmp
