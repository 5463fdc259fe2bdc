// SPDX-License-Identifier: Apache-2.0
// CPU time by node: what was work, and what was lost, for which reason. Touched by the sampler alone while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profile/nodes.h"

namespace weft::profile {

// The reasons of docs/explanation/report.md, in its order.
enum class Loss : uint8_t { serial, imbalance, synchronisation, overhead, few_threads, transfer, blocked };
inline constexpr int kLosses = 7;
inline constexpr const char* kLossWords[kLosses] = {"serial",      "imbalance", "synchronisation", "overhead",
                                                    "few_threads", "transfer",  "blocked"};

// Nanoseconds.
struct Account {
  double useful = 0;
  double wall = 0;  // in which anybody was in it
  std::array<double, kLosses> lost{};
  double untold = 0;  // CPU time of regions and chunks of which nothing was told
};

// What counts and lengths say of that time, by node.
struct Untold {
  double chunks_ns = 0;   // of a loop: the chunks' own
  double told_extra = 0;  // of a region: by which part those that are told take longer
};

class Ledger {
 public:
  Account& at(NodeId node) {
    if (accounts_.size() <= node) accounts_.resize(node + 1);
    return accounts_[node];
  }
  void lose(NodeId node, Loss why, double ns) { at(node).lost[static_cast<size_t>(why)] += ns; }
  // Of loops: what is not the chunks' own is overhead. Of regions: spreads what was not told of them like what was
  // told, which has more overhead.
  void spread_untold(const Nodes& nodes, const std::vector<Untold>& known);
  NodeId size() const noexcept { return static_cast<NodeId>(accounts_.size()); }

 private:
  void spread_region(const Nodes& nodes, NodeId region, double untold, double told_extra);

  std::vector<Account> accounts_;
};

}  // namespace weft::profile
