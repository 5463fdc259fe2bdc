// SPDX-License-Identifier: Apache-2.0
// Outer regions whose members call parallel libraries (openmp/library/nested_blas.h). Nobody can tell beforehand how
// such calls share the CPUs best, but most programs come back to the same region: so each region is tried in every way,
// and then run the fastest way.
#pragma once

#include <atomic>

#include "openmp/record/call_policy.h"

namespace weft::openmp {

struct Team;
// Set once some member of a region has called such a library; before, regions pay one look at this. Relaxed: a
// region more or less is seen.
extern std::atomic<bool> g_library_calls;

// The region that `team` runs next, or has just run, is watched. Called by the primary.
void begin_watched(Team* team) noexcept;
void end_watched(Team* team) noexcept;

// A member of `team` asks on behalf of a library: how this run's calls go; from the next run on the region is watched.
Way way_of_calls(Team* team) noexcept;

}  // namespace weft::openmp
