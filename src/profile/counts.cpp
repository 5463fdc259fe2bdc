// SPDX-License-Identifier: Apache-2.0
#include "profile/counts.h"

#include <algorithm>

#include "profile/nodes.h"

namespace weft::profile {

std::vector<Sum> counts(uint32_t nodes) {
  std::vector<Sum> all(nodes);
  for (const Slot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    slot->visit([&](const Entry& entry) {
      if (entry.node >= nodes) return;
      Sum& sum = all[entry.node];
      sum.count += entry.count.get();
      sum.untold += entry.untold.get();
      sum.iterations += entry.iterations.get();
      sum.pieces += entry.pieces.get();
      sum.stolen += entry.stolen.get();
      sum.timed += entry.timed.get();
      sum.timed_ticks += entry.timed_ticks.get();
      for (size_t i = 0; i < sum.lengths.size(); ++i) sum.lengths[i] += entry.lengths[i].get();
    });
  }
  return all;
}

void subtract(std::vector<Sum>& all, const std::vector<Sum>& before) noexcept {
  for (size_t id = 0; id < std::min(all.size(), before.size()); ++id) {
    Sum& sum = all[id];
    const Sum& had = before[id];
    sum.count -= had.count;
    sum.untold -= had.untold;
    sum.iterations -= had.iterations;
    sum.pieces -= had.pieces;
    sum.stolen -= had.stolen;
    sum.timed -= had.timed;
    sum.timed_ticks -= had.timed_ticks;
    for (size_t i = 0; i < sum.lengths.size(); ++i) sum.lengths[i] -= had.lengths[i];
  }
}

void scale(std::vector<Sum>& all) {
  std::vector<double> factors(all.size(), 1);
  for (NodeId id = 1; id < all.size(); ++id) {
    const NodeId parent = g_nodes[id].parent;
    const Sum& around = all[parent];
    factors[id] = factors[parent];
    if (around.untold > 0 && around.untold < around.count) {
      factors[id] *= static_cast<double>(around.count) / static_cast<double>(around.count - around.untold);
    }
    const auto scaled = [factor = factors[id]](uint64_t& number) {
      number = static_cast<uint64_t>(static_cast<double>(number) * factor + 0.5);
    };
    Sum& sum = all[id];
    if (factors[id] == 1) continue;
    for (uint64_t* number : {&sum.count, &sum.untold, &sum.iterations, &sum.pieces, &sum.stolen}) scaled(*number);
  }
}

}  // namespace weft::profile
