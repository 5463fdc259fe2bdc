// SPDX-License-Identifier: Apache-2.0
#include "observe/account/ledger.h"

#include <algorithm>
#include <utility>

namespace weft::observe {

namespace {

double lost_of(const Account& account) noexcept {
  double sum = 0;
  for (const double part : account.lost) sum += part;
  return sum;
}

}  // namespace

void Ledger::spread_unwatched(const ConstructTree& nodes, const std::vector<Unwatched>& known) {
  const ConstructId count = nodes.count();
  at(count - 1);
  // A node's number is larger than its parent's. From the inside out: what is inside is known when what is around it is
  // spread.
  for (ConstructId node = count; node-- > 0;) {
    const double unwatched = std::exchange(accounts_[node].unwatched, 0);
    if (unwatched <= 0) continue;
    const double work = node < known.size() ? std::min(known[node].work_ns, unwatched) : -1;
    if (nodes[node].kind == Kind::region) {
      spread_region(nodes, node, unwatched, work);
    } else {
      const double most = node < known.size() ? known[node].most_overhead_ns : unwatched;
      const double overhead = std::min(unwatched - std::max(work, 0.0), most);
      accounts_[node].useful += unwatched - overhead;
      lose(node, Loss::overhead, overhead);
    }
  }
}

void Ledger::spread_region(const ConstructTree& nodes, ConstructId region, double unwatched, double work) {
  const ConstructId count = nodes.count();
  std::vector<ConstructId> within;
  std::vector<bool> is_within(count, false);
  is_within[region] = true;
  double useful = 0;
  double lost = 0;
  for (ConstructId node = region; node < count; ++node) {
    is_within[node] = is_within[node] || is_within[nodes[node].parent];
    if (!is_within[node]) continue;
    within.push_back(node);
    useful += accounts_[node].useful;
    lost += lost_of(accounts_[node]);
  }
  if (work < 0) work = useful + lost > 0 ? unwatched * useful / (useful + lost) : 0;
  // Where a snapshot has met none of it.
  if (useful <= 0) accounts_[region].useful += work;
  if (lost <= 0) lose(region, Loss::overhead, unwatched - work);
  const double more_useful = useful > 0 ? 1 + work / useful : 1;
  const double more_lost = lost > 0 ? 1 + (unwatched - work) / lost : 1;
  for (const ConstructId node : within) {
    if (useful > 0) accounts_[node].useful *= more_useful;
    if (lost > 0) {
      for (double& part : accounts_[node].lost) part *= more_lost;
    }
  }
}

}  // namespace weft::observe
