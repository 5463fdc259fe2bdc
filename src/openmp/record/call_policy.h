// SPDX-License-Identifier: Apache-2.0
// What a team keeps of how library calls of its region run (library/call_policy.h).
#pragma once

#include <cstdint>

namespace weft::openmp {

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

}  // namespace weft::openmp
