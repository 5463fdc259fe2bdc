// SPDX-License-Identifier: Apache-2.0
// How free CPUs are divided among permits and the pool: a pure calculation.
#pragma once

#include <cstdint>

namespace weft::tcm {

// What a permit asks for, and what it is given.
struct Demand {
  int least = 0;  // what it needs: given before all else
  int most = 0;
  int32_t priority = 0;
  bool fixed = false;  // `granted` stays as it is
  int granted = 0;     // before: what it has; after: what it is given
  bool met = true;     // result: whether it has its least
};

// What the pool has and could use.
struct PoolDemand {
  int roots = 0;   // roots that run in any case; each counts as much as a permit
  int wanted = 0;  // how many workers it could use beside them
};

// Divides `free` CPUs of `cpus`. Each side gets what it can use; where that is too much, the CPUs are divided evenly,
// counting the threads that run anyway: the roots, and one for each permit. Returns the pool's part. A permit whose
// least is 1 gets one thread even where no CPU is free: work that waits for that thread may never end without it.
int divide(int cpus, int free, const PoolDemand& pool, Demand* const* demands, int count) noexcept;

}  // namespace weft::tcm
