// SPDX-License-Identifier: Apache-2.0
#include "profile/ledger.h"

#include <algorithm>
#include <utility>

namespace weft::profile {

namespace {

double lost_of(const Account& account) noexcept {
  double sum = 0;
  for (const double part : account.lost) sum += part;
  return sum;
}

}  // namespace

void Ledger::spread_untold(const Nodes& nodes, const std::vector<Untold>& known) {
  const NodeId count = nodes.count();
  at(count - 1);
  // A node's number is larger than its parent's. From the inside out: what is inside is known when what is around it is
  // spread.
  for (NodeId node = count; node-- > 0;) {
    const double untold = std::exchange(accounts_[node].untold, 0);
    if (untold <= 0) continue;
    const double work = node < known.size() ? std::min(known[node].work_ns, untold) : -1;
    if (nodes[node].kind == Kind::region) {
      spread_region(nodes, node, untold, work);
    } else {
      const double most = node < known.size() ? known[node].most_overhead_ns : untold;
      const double overhead = std::min(untold - std::max(work, 0.0), most);
      accounts_[node].useful += untold - overhead;
      lose(node, Loss::overhead, overhead);
    }
  }
}

void Ledger::spread_region(const Nodes& nodes, NodeId region, double untold, double work) {
  const NodeId count = nodes.count();
  std::vector<NodeId> within;
  std::vector<bool> is_within(count, false);
  is_within[region] = true;
  double useful = 0;
  double lost = 0;
  for (NodeId node = region; node < count; ++node) {
    is_within[node] = is_within[node] || is_within[nodes[node].parent];
    if (!is_within[node]) continue;
    within.push_back(node);
    useful += accounts_[node].useful;
    lost += lost_of(accounts_[node]);
  }
  if (work < 0) work = useful + lost > 0 ? untold * useful / (useful + lost) : 0;
  // Where a snapshot has met none of it.
  if (useful <= 0) accounts_[region].useful += work;
  if (lost <= 0) lose(region, Loss::overhead, untold - work);
  const double more_useful = useful > 0 ? 1 + work / useful : 1;
  const double more_lost = lost > 0 ? 1 + (untold - work) / lost : 1;
  for (const NodeId node : within) {
    if (useful > 0) accounts_[node].useful *= more_useful;
    if (lost > 0) {
      for (double& part : accounts_[node].lost) part *= more_lost;
    }
  }
}

}  // namespace weft::profile
