// SPDX-License-Identifier: Apache-2.0
#include "core/sched/numa_nodes.h"

#include <sched.h>

#include "platform/numa.h"
#include "platform/small_file.h"

namespace weft::core {

// By the C library, which asks the kernel without a system call.
int current_numa_node() noexcept {
  unsigned cpu = 0;
  unsigned node = 0;
  return getcpu(&cpu, &node) == 0 && node < INT16_MAX ? static_cast<int>(node) : -1;
}

int highest_numa_node() noexcept {
  char text[256];
  if (!platform::read_small_file("/sys/devices/system/node/has_cpu", text, sizeof text)) return 0;
  const platform::NodeSet nodes = platform::parse_node_list(text);
  int highest = 0;
  for (int node = nodes.first(); node >= 0; node = nodes.next(node + 1)) highest = node;
  return nodes.count() > 1 ? highest : 0;
}

}  // namespace weft::core
