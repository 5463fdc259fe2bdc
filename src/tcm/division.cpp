// SPDX-License-Identifier: Apache-2.0
#include "tcm/division.h"

#include <algorithm>

namespace weft::tcm {

namespace {

// Gives each demand its least, as far as there are free CPUs. Where the least is more than all CPUs, it gets all:
// waiting would not help. Returns how many CPUs are left.
int give_least(int cpus, int free, Demand* const* demands, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    if (demands[i]->fixed) free -= demands[i]->granted;
  }
  for (int i = 0; i < count; ++i) {
    Demand& demand = *demands[i];
    if (demand.fixed) continue;
    const int least = std::clamp(demand.least, 0, std::max(1, cpus));
    demand.met = least <= 1 || least <= free;
    demand.granted = demand.met ? least : 0;
    free -= demand.granted;
  }
  return std::max(0, free);
}

bool could_use_more(const Demand& demand) noexcept {
  return !demand.fixed && demand.met && demand.granted < demand.most;
}

// Returns, of the demands that may have more, the one that has been granted least; of equals the first.
Demand* poorest(Demand* const* demands, int count, int32_t priority, bool any_priority) noexcept {
  Demand* found = nullptr;
  for (int i = 0; i < count; ++i) {
    Demand* demand = demands[i];
    if (!could_use_more(*demand) || (!any_priority && demand->priority != priority)) continue;
    if (found == nullptr || demand->granted < found->granted) found = demand;
  }
  return found;
}

bool several_priorities(Demand* const* demands, int count) noexcept {
  return std::any_of(demands, demands + count,
                     [&](const Demand* demand) { return demand->priority != demands[0]->priority; });
}

// Divides anew what the demands have beyond their least: demands of a higher priority come first.
void order_by_priority(Demand* const* demands, int count) noexcept {
  int left = 0;
  for (int i = 0; i < count; ++i) {
    Demand& demand = *demands[i];
    if (demand.fixed || !demand.met) continue;
    const int least = std::min(demand.granted, std::max(demand.least, 0));
    left += demand.granted - least;
    demand.granted = least;
  }
  while (left > 0) {
    int32_t highest = INT32_MIN;
    bool any = false;
    for (int i = 0; i < count; ++i) {
      if (!could_use_more(*demands[i])) continue;
      highest = std::max(highest, demands[i]->priority);
      any = true;
    }
    if (!any) return;
    for (Demand* next = nullptr; left > 0 && (next = poorest(demands, count, highest, false)) != nullptr; --left) {
      ++next->granted;
    }
  }
}

}  // namespace

int divide(int cpus, int free, const PoolDemand& pool, Demand* const* demands, int count) noexcept {
  int left = give_least(cpus, free, demands, count);
  const int64_t weight = std::max(1, pool.roots);
  int share = 0;
  for (; left > 0; --left) {
    Demand* demand = poorest(demands, count, 0, true);
    const bool pool_can = share < pool.wanted;
    if (demand == nullptr && !pool_can) break;
    // Each permit's client and each root of the pool has come with one thread: the side that has fewer per such thread
    // gets the next CPU; of equals the pool.
    const bool pool_is_poorer = demand != nullptr && pool.roots + share <= weight * (1 + demand->granted);
    if (pool_can && (demand == nullptr || pool_is_poorer)) {
      ++share;
    } else {
      ++demand->granted;
    }
  }
  if (count > 1 && several_priorities(demands, count)) order_by_priority(demands, count);
  return share;
}

}  // namespace weft::tcm
