// SPDX-License-Identifier: Apache-2.0
// What all contexts have counted at each node. Counts only grow, since each is written by its context alone: what has
// been counted in a stretch of time is the difference of two sums.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profile/slot.h"

namespace weft::profile {

struct Sum {
  uint64_t count = 0;
  uint64_t untold = 0;
  uint64_t iterations = 0;
  uint64_t pieces = 0;
  uint64_t stolen = 0;
  uint64_t timed = 0;
  uint64_t timed_ticks = 0;
  std::array<uint64_t, kLengthClasses> lengths{};
};

// By node, for nodes below `nodes`.
std::vector<Sum> counts(uint32_t nodes);

// What `all` has more than `before`, which may be shorter.
void subtract(std::vector<Sum>& all, const std::vector<Sum>& before) noexcept;

// What was counted inside of regions that were told stands for the others too.
void scale(std::vector<Sum>& all);

}  // namespace weft::profile
