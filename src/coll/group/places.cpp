// SPDX-License-Identifier: Apache-2.0
#include "coll/group/places.h"

#include <cstdio>

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

int own_cache() noexcept {
  platform::CpuSet cpus = platform::thread_cpus();
  char path[96];
  char text[1024];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpus.first());
  if (!platform::read_small_file(path, text, sizeof text)) return -1;
  const platform::CpuSet served = platform::parse_cpu_list(text);
  cpus.remove_all(served);
  return cpus.empty() ? served.first() : -1;
}

}  // namespace

Place own_place(bool with_cache) noexcept { return {.node = own_node(), .cache = with_cache ? own_cache() : -1}; }

}  // namespace weft::coll
