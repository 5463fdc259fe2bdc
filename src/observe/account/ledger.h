// SPDX-License-Identifier: Apache-2.0
// CPU time by node: what was work, and what was lost, for which reason. Touched by the sampler alone while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "observe/account/construct_tree.h"
#include "observe/format/words.h"

namespace weft::observe {

// Nanoseconds.
struct Account {
  double useful = 0;
  double wall = 0;  // in which anybody was in it
  std::array<double, kLosses> lost{};
  double unwatched = 0;  // CPU time of regions and chunks of which nothing was told
};

// What counts and lengths say of that time, by node.
struct Unwatched {
  double work_ns = -1;  // so much of it was work; below 0: that is not known
  double most_overhead_ns = std::numeric_limits<double>::infinity();  // of a loop
};

class Ledger {
 public:
  Account& at(ConstructId node) {
    if (accounts_.size() <= node) accounts_.resize(node + 1);
    return accounts_[node];
  }
  void lose(ConstructId node, Loss why, double ns) { at(node).lost[static_cast<size_t>(why)] += ns; }
  // Of loops: what was not work is overhead. Of regions: spreads the work that was not told like the work that was, and
  // likewise what was lost; both together where it is not known how much was work.
  void spread_unwatched(const ConstructTree& nodes, const std::vector<Unwatched>& known);
  ConstructId size() const noexcept { return static_cast<ConstructId>(accounts_.size()); }

 private:
  void spread_region(const ConstructTree& nodes, ConstructId region, double unwatched, double work);

  std::vector<Account> accounts_;
};

}  // namespace weft::observe
