// SPDX-License-Identifier: Apache-2.0
// Where ranks are on the machine.
#pragma once

namespace weft::coll {

// The NUMA node and the cache that all CPUs of the calling thread have in common; -1: they have several, or it is not
// known.
struct Location {
  int node = -1;  // the NUMA node
  int cache = -1;  // the last-level cache, by the smallest CPU that it serves
};

// How many CPUs the job may have here: those of the caller, or of the process that has started it and is bound less.
int job_cpus() noexcept;

// The location of the caller. The cache only where it is asked for: to find that out takes some ten microseconds.
Location own_location(bool with_cache) noexcept;

}  // namespace weft::coll
