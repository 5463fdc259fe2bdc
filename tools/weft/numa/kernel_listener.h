// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of accesses to memory while a program runs: page faults, and memory samples where the CPU takes
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "numa/evidence.h"
#include "numa/kernel.h"
#include "numa/perf_rings.h"

namespace weft::tools::numa {

class KernelListener {
 public:
  // From now on, of the processes that the calling thread starts. `later`: also who uses memory after its first touch.
  KernelListener(const Kernel& kernel, bool later);

  // Ends it. What was seen becomes touches of the arrays of these processes; or they say why nothing was.
  void report_touches(std::vector<Evidence>& all);

 private:
  const Kernel& kernel_;
  const bool later_;
  PerfRings faults_;
  std::optional<PerfRings> samples_;
  std::string why_no_faults_;
  std::string why_no_samples_;
};

}  // namespace weft::tools::numa
