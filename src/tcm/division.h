// SPDX-License-Identifier: Apache-2.0
// How CPUs that are free are divided among permits and the pool. No state, no locks.
#pragma once

#include <cstdint>

namespace weft::tcm {

// What a permit asks for, and what it is given.
struct Demand {
  int least = 0;  // given first
  int most = 0;
  int32_t priority = 0;
  bool fixed = false;  // `granted` stays as it is
  int granted = 0;     // at first: what it has
  bool met = true;     // whether it has its least
};

// What the pool has and could use.
struct PoolDemand {
  int roots = 0;   // that run in any case, each with a demand as large as a permit's
  int wanted = 0;  // workers beside them
};

// Divides `free` CPUs, with `cpus` in all. Each side gets what it can use, evenly where that is too much, with the
// threads counted that run anyway: the roots, and one for each permit. Returns the pool's part.
// A least of 1 is given even where nothing is free: what waits for that one thread may never end without it.
int divide(int cpus, int free, const PoolDemand& pool, Demand* const* demands, int count) noexcept;

}  // namespace weft::tcm
