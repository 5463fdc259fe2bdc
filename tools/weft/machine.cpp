// SPDX-License-Identifier: Apache-2.0
#include "machine.h"
#include "platform/cpu_set.h"
#include "platform/small_file.h"
#include "platform/topology.h"

namespace weft::tools {

namespace {

using platform::CpuSet;
using platform::Level;

// Groups of a level, each counted at its first CPU.
int groups(const platform::Topology& topology, Level level, const CpuSet& cpus) {
  const auto all = platform::each(cpus);
  int count = 0;
  for (const int cpu : all) count += topology.leader(level, cpu) == cpu ? 1 : 0;
  return count;
}

}  // namespace

Machine look_at_machine() {
  char text[4096];
  if (!platform::read_small_file("/sys/devices/system/cpu/online", text, sizeof text)) return {};
  const CpuSet cpus = platform::parse_cpu_list(text);
  const platform::Topology topology(cpus, "");
  return {groups(topology, Level::sockets, cpus), groups(topology, Level::numa_domains, cpus),
          groups(topology, Level::cores, cpus), cpus.count()};
}

}  // namespace weft::tools
