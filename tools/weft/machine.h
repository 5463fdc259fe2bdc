// SPDX-License-Identifier: Apache-2.0
// The parts of the machine, for `weft info`.
#pragma once

namespace weft::tools {

struct Machine {
  int packages = 0;  // 0 in each place: not known
  int numa_nodes = 0;
  int cores = 0;
  int hardware_threads = 0;
};

// As /sys says.
Machine look_at_machine();

}  // namespace weft::tools
