// SPDX-License-Identifier: Apache-2.0
// What all contexts have counted at each node. Counts are written by their contexts alone: what has been counted in a
// stretch of time is the difference of two sums.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "observe/account/construct_tree.h"
#include "observe/account/ledger.h"
#include "observe/record/profile/context_record.h"

namespace weft::observe {

// At one node. The same as in an Entry.
struct Sum {
  uint64_t count = 0;
  uint64_t iterations = 0;
  uint64_t pieces = 0;
  uint64_t stolen = 0;
  uint64_t unwatched = 0;
  uint64_t timed = 0;
  uint64_t timed_ticks = 0;
  uint64_t far_longer = 0;
  uint64_t far_longer_ticks = 0;
  uint64_t sampled = 0;
  uint64_t sampled_work = 0;
  std::array<uint64_t, kLengthClasses> lengths{};
};

// By node, of the first `nodes`.
std::vector<Sum> sums(uint32_t nodes);

// What `all` has more than `before`, which may be shorter.
void subtract(std::vector<Sum>& all, const std::vector<Sum>& before) noexcept;

// The mean of the lengths that were timed. Of pieces that are short on the average a few that are far longer than all
// others do not count: there the system had taken the CPU away.
double mean_ns(const Sum& sum);

// What the counts say of what was not told.
std::vector<Unwatched> unwatched_of(const std::vector<Sum>& all, const ConstructTree& nodes);

// What was counted inside of regions that were told stands for the others too.
void scale(std::vector<Sum>& all, const ConstructTree& nodes);

}  // namespace weft::observe
