// SPDX-License-Identifier: Apache-2.0
// What WEFT_BALANCE and WEFT_GRAIN say of a region that is one loop whose schedule leaves open who runs what.
#pragma once

#include <cstdint>

namespace weft::openmp {

struct Team;
struct Workshare;

// Where the iterations of such a region are.
struct LoopParts {
  // Members that have one part each, of equal sizes (even_share.h); 0: they take chunks of the team's Workshare.
  int fixed = 0;
  // Iterations that the primary has before its part, since it begins before the others.
  uint64_t head = 0;
};

// Whether WEFT_GRAIN is set.
bool grain_is_said() noexcept;

// How many members take part, of a team of `size`. `worthwhile`: as many as the loop is worth. `iteration_ns`: what one
// takes; 0: not known.
int members_by_balance(uint64_t count, int size, int worthwhile, double iteration_ns) noexcept;

// Divides `count` iterations among `members`, at least 2. `monotonic`: each member's come in ascending order.
LoopParts divide_loop(Team* team, Workshare* share, uint64_t count, int members, double iteration_ns, bool lastprivate,
                      bool monotonic) noexcept;

}  // namespace weft::openmp
