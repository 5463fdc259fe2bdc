// SPDX-License-Identifier: Apache-2.0
#include "profile/ledger.h"

#include <utility>

namespace weft::profile {

void Ledger::spread_untold(const Nodes& nodes) {
  const NodeId count = nodes.count();
  at(count - 1);
  // A node's number is larger than its parent's. From the inside out: an inner region's is known when the outer one's
  // is spread.
  for (NodeId region = count; region-- > 0;) {
    const double untold = std::exchange(accounts_[region].untold, 0);
    if (untold <= 0) continue;
    std::vector<bool> within(count, false);
    within[region] = true;
    double told = 0;
    for (NodeId node = region; node < count; ++node) {
      within[node] = within[node] || within[nodes[node].parent];
      if (!within[node]) continue;
      told += accounts_[node].useful;
      for (const double part : accounts_[node].lost) told += part;
    }
    if (told <= 0) {
      lose(region, Loss::overhead, untold);
      continue;
    }
    const double factor = 1 + untold / told;
    for (NodeId node = region; node < count; ++node) {
      if (!within[node]) continue;
      accounts_[node].useful *= factor;
      for (double& part : accounts_[node].lost) part *= factor;
    }
  }
}

}  // namespace weft::profile
