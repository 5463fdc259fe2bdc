// SPDX-License-Identifier: Apache-2.0
#include "coll/group/places.h"

#include "platform/cpu_set.h"
#include "platform/numa.h"
#include "platform/small_file.h"

namespace weft::coll {

namespace {

// All of them are read only where there are several: it takes longer than to make a group.
bool has_several_nodes() noexcept {
  static const bool several = [] {
    char text[256];
    return platform::read_small_file("/sys/devices/system/node/online", text, sizeof text) &&
           platform::parse_node_list(text).count() > 1;
  }();
  return several;
}

}  // namespace

int own_node() noexcept {
  if (!has_several_nodes()) return -1;
  static const platform::NumaNodes machine("");
  int node = -1;
  for (const int cpu : platform::each(platform::thread_cpus())) {
    const int other = machine.node_of_cpu(cpu);
    if (other < 0 || (node >= 0 && other != node)) return -1;
    node = other;
  }
  return node;
}

}  // namespace weft::coll
