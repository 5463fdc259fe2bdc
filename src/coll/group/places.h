// SPDX-License-Identifier: Apache-2.0
// Where ranks are on the machine.
#pragma once

namespace weft::coll {

// What all CPUs of the calling thread have in common. -1: they have several, or it is not known.
struct Place {
  int node = -1;  // the NUMA node
  int cache = -1;  // the last-level cache, by the smallest CPU that it serves
};

// CPUs that the job may have here: those of the caller, or of whoever has started it and is bound less.
int job_cpus() noexcept;

// The cache only where it is asked for: to find out takes some ten microseconds.
Place own_place(bool with_cache) noexcept;

}  // namespace weft::coll
