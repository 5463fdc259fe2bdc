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
  double untold = 0;  // CPU time of a region of which nothing was told
};

class Ledger {
 public:
  Account& at(NodeId node) {
    if (accounts_.size() <= node) accounts_.resize(node + 1);
    return accounts_[node];
  }
  void lose(NodeId node, Loss why, double ns) { at(node).lost[static_cast<size_t>(why)] += ns; }
  // Spreads what was not told of regions like what was told of them.
  void spread_untold(const Nodes& nodes);
  NodeId size() const noexcept { return static_cast<NodeId>(accounts_.size()); }

 private:
  std::vector<Account> accounts_;
};

}  // namespace weft::profile
