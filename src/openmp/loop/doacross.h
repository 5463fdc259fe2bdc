// SPDX-License-Identifier: Apache-2.0
// Doacross loops (OpenMP 5.2, section 15.9.6). Each member that meets the loop begins and ends it. Iterations are
// numbered in the order of the sequential loop nest.
#pragma once

#include <cstdint>

#include "openmp/record/doacross.h"

namespace weft::openmp {

struct Member;

// The member's record of a nest of `loops` loops, to be filled in before begin_doacross(). Where there are more than it
// has room for the process ends with a message.
DoacrossLoops& doacross_loops(Member* self, int loops) noexcept;

// Without memory the process ends with a message.
void begin_doacross(Member* self) noexcept;
void end_doacross(Member* self) noexcept;

struct Iteration {
  uint64_t row = 0;  // of the outermost loop
  uint64_t number = 0;  // of the nest
};

// The iteration has posted. Release: a member that waits for it sees what was done before.
void post_iteration(Member* self, const Iteration& iteration) noexcept;
void wait_for_iteration(Member* self, const Iteration& iteration) noexcept;

}  // namespace weft::openmp
