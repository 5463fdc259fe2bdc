// SPDX-License-Identifier: Apache-2.0
// On which NUMA nodes the process's memory lies.
#pragma once

namespace weft::observe {

struct MemorySpread {
  int nodes = 1;           // of the machine, with memory
  double bytes = 0;        // that are the process's own, on machines with several nodes
  double on_one_node = 0;  // the largest part of the process's own pages that lies on one node; 0: not known
};
MemorySpread memory_spread();

}  // namespace weft::observe
