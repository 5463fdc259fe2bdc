// SPDX-License-Identifier: Apache-2.0
// Threads that should have worked, and had no CPU: they slept in the system, or others had it.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/ledger.h"

namespace weft::profile {

class Blocked {
 public:
  explicit Blocked(Ledger& ledger) : ledger_(ledger) {}

  // The OS thread `thread` worked at `node`, as it seemed, for `ns`.
  void note(int thread, NodeId node, double ns);

  // Some snapshots later: compares what was noted with the CPU time that the threads have had, and moves the difference
  // from work to what was lost.
  void settle();

 private:
  struct Work {
    int thread;
    NodeId node;
    double ns;
  };
  struct Thread {
    int thread;
    int64_t cpu;  // that it had had when it was looked at last
    double seemed;  // to work since then
  };

  Thread& find(int thread);

  Ledger& ledger_;
  std::vector<Work> work_;
  std::vector<Thread> threads_;
};

}  // namespace weft::profile
