// SPDX-License-Identifier: Apache-2.0
// Outer regions whose members call parallel libraries (openmp/library/nested_blas.h). Nobody can tell beforehand how
// such calls share the CPUs best, but most programs come back to the same region: so each region is tried in every way,
// and then run the fastest way.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::openmp {

struct Team;
struct Site;  // one outlined function

enum class Way : int {
  tail,  // as below, and the last calls of a loop wait a while for members that are about to finish
  side_by_side,  // each call runs at once, on the CPUs that are idle when it starts: best for many equal calls
  turns,  // one call at a time, on all CPUs: best where the last call would run alone for long
};
inline constexpr int kWays = 3;

// What is kept of the region that a team runs, by its outlined function: how its library calls run. Written by the
// primary before the region begins.
struct TeamPolicy {
  Site* site = nullptr;
  int64_t began_ns = 0;
  int64_t give_up_ns = 0;
  Way way = Way::tail;
};

// Set once some member of a region has called such a library; before, regions pay one look at this. Relaxed: a
// region more or less is seen.
extern std::atomic<bool> g_library_calls;

// Of the region that `team` runs next, or has just run. By the primary.
void begin_watched(Team* team) noexcept;
void end_watched(Team* team) noexcept;

// A member of `team` asks on behalf of a library: how this run's calls go; from the next run on the region is watched.
Way way_of_calls(Team* team) noexcept;

}  // namespace weft::openmp
