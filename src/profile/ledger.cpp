// SPDX-License-Identifier: Apache-2.0
#include "profile/ledger.h"

#include <algorithm>
#include <utility>

namespace weft::profile {

void Ledger::spread_untold(const Nodes& nodes, const std::vector<Untold>& known) {
  const NodeId count = nodes.count();
  at(count - 1);
  // A node's number is larger than its parent's. From the inside out: what is inside is known when what is around it is
  // spread.
  for (NodeId node = count; node-- > 0;) {
    const double untold = std::exchange(accounts_[node].untold, 0);
    if (untold <= 0) continue;
    const Untold what = node < known.size() ? known[node] : Untold();
    if (nodes[node].kind == Kind::region) {
      spread_region(nodes, node, untold, what.told_extra);
    } else {
      const double chunks = std::min(untold, what.chunks_ns);
      accounts_[node].useful += chunks;
      lose(node, Loss::overhead, untold - chunks);
    }
  }
}

void Ledger::spread_region(const Nodes& nodes, NodeId region, double untold, double told_extra) {
  const NodeId count = nodes.count();
  const auto overhead_of = [](Account& account) -> double& {
    return account.lost[static_cast<size_t>(Loss::overhead)];
  };
  std::vector<NodeId> within;
  std::vector<bool> is_within(count, false);
  is_within[region] = true;
  double told = 0;
  double overhead = 0;
  for (NodeId node = region; node < count; ++node) {
    is_within[node] = is_within[node] || is_within[nodes[node].parent];
    if (!is_within[node]) continue;
    within.push_back(node);
    told += accounts_[node].useful;
    for (const double part : accounts_[node].lost) told += part;
    overhead += overhead_of(accounts_[node]);
  }
  // What is longer since it is told is overhead.
  const double extra = std::min(told_extra * told, overhead);
  const double like_untold = told - extra;
  if (like_untold <= 0) return lose(region, Loss::overhead, untold);
  const double more = untold / like_untold;
  const double more_overhead = overhead > 0 ? more * (1 - extra / overhead) : 0;
  for (const NodeId node : within) {
    Account& account = accounts_[node];
    const double overhead_before = overhead_of(account);
    account.useful *= 1 + more;
    for (double& part : account.lost) part *= 1 + more;
    overhead_of(account) = overhead_before * (1 + more_overhead);
  }
}

}  // namespace weft::profile
