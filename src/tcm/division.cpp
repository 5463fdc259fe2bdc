// SPDX-License-Identifier: Apache-2.0
#include "tcm/division.h"

#include <algorithm>

namespace weft::tcm {

namespace {

// The least of each, as far as there is enough; more than all CPUs cannot be had by waiting. Returns what is left.
int give_least(int cpus, int free, Claim* const* claims, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    if (claims[i]->fixed) free -= claims[i]->granted;
  }
  for (int i = 0; i < count; ++i) {
    Claim& claim = *claims[i];
    if (claim.fixed) continue;
    const int least = std::clamp(claim.least, 0, std::max(1, cpus));
    claim.met = least <= 1 || least <= free;
    claim.granted = claim.met ? least : 0;
    free -= claim.granted;
  }
  return std::max(0, free);
}

bool could_use_more(const Claim& claim) noexcept { return !claim.fixed && claim.met && claim.granted < claim.most; }

// Of those that may have more, the one with the least; of equals the first.
Claim* poorest(Claim* const* claims, int count, int32_t priority, bool any_priority) noexcept {
  Claim* found = nullptr;
  for (int i = 0; i < count; ++i) {
    Claim* claim = claims[i];
    if (!could_use_more(*claim) || (!any_priority && claim->priority != priority)) continue;
    if (found == nullptr || claim->granted < found->granted) found = claim;
  }
  return found;
}

bool several_priorities(Claim* const* claims, int count) noexcept {
  return std::any_of(claims, claims + count,
                     [&](const Claim* claim) { return claim->priority != claims[0]->priority; });
}

// Divides what they have beyond their least anew: those of a higher priority come first.
void order_by_priority(Claim* const* claims, int count) noexcept {
  int left = 0;
  for (int i = 0; i < count; ++i) {
    Claim& claim = *claims[i];
    if (claim.fixed || !claim.met) continue;
    const int least = std::min(claim.granted, std::max(claim.least, 0));
    left += claim.granted - least;
    claim.granted = least;
  }
  while (left > 0) {
    int32_t highest = INT32_MIN;
    bool any = false;
    for (int i = 0; i < count; ++i) {
      if (!could_use_more(*claims[i])) continue;
      highest = std::max(highest, claims[i]->priority);
      any = true;
    }
    if (!any) return;
    for (Claim* next = nullptr; left > 0 && (next = poorest(claims, count, highest, false)) != nullptr; --left) {
      ++next->granted;
    }
  }
}

}  // namespace

int divide(int cpus, int free, const PoolClaim& pool, Claim* const* claims, int count) noexcept {
  int left = give_least(cpus, free, claims, count);
  const int64_t weight = std::max(1, pool.roots);
  int share = 0;
  for (; left > 0; --left) {
    Claim* claim = poorest(claims, count, 0, true);
    const bool pool_can = share < pool.wanted;
    if (claim == nullptr && !pool_can) break;
    // Threads for each side that has come with one; of equals the pool goes first.
    const bool pool_is_poorer = claim != nullptr && pool.roots + share <= weight * (1 + claim->granted);
    if (pool_can && (claim == nullptr || pool_is_poorer)) {
      ++share;
    } else {
      ++claim->granted;
    }
  }
  if (count > 1 && several_priorities(claims, count)) order_by_priority(claims, count);
  return share;
}

}  // namespace weft::tcm
