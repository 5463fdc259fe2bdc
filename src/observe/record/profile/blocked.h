// SPDX-License-Identifier: Apache-2.0
// Threads that should have worked, and had no CPU: they slept in the system, or others had it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "observe/account/ledger.h"

namespace weft::observe {

class Blocked {
 public:
  explicit Blocked(Ledger& ledger) : ledger_(ledger) {}

  // The OS thread `thread` worked at `node`, as it seemed, for `ns`.
  void note(int thread, ConstructId node, double ns);

  // Some snapshots later: compares what was noted with the CPU time that the threads have had, and moves the difference
  // from work to what was lost.
  void settle();

 private:
  struct Thread {
    int64_t cpu = 0;  // that it had had when it was looked at last
    double seemed = 0;  // to work since then
    std::unordered_map<ConstructId, double> nodes;
  };

  Ledger& ledger_;
  std::unordered_map<int, Thread> threads_;
};

}  // namespace weft::observe
