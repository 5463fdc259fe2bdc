// SPDX-License-Identifier: Apache-2.0
#include "coll/group/location.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <unistd.h>

#include "platform/cpu_set.h"
#include "platform/numa.h"
#include "platform/small_file.h"

namespace weft::coll {

namespace {

// Whether the machine has several NUMA nodes. All nodes are read only then: that takes longer than to make a group.
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
  const platform::CpuSet cpus = platform::thread_cpus();
  for (const int cpu : platform::each(cpus)) {
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

// The process that has started `process`; 0: there is none, or it is not known.
pid_t parent_of(pid_t process) noexcept {
  char path[64];
  char text[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  if (!platform::read_small_file(path, text, sizeof text)) return 0;
  // Behind the name, which may hold anything, come the state and the parent.
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && std::strlen(name_end) > 4 ? std::atoi(name_end + 4) : 0;
}

int count_job_cpus() noexcept {
  constexpr int kAncestors = 8;  // scripts, the launcher's daemon, and what has started that
  int most = platform::thread_cpus().count();
  pid_t process = getppid();
  for (int i = 0; i < kAncestors && process > 0; ++i, process = parent_of(process)) {
    platform::CpuSet cpus;
    if (sched_getaffinity(process, platform::CpuSet::kBytes, static_cast<cpu_set_t*>(cpus.data())) == 0) {
      most = std::max(most, cpus.count());
    }
  }
  return most;
}

}  // namespace

int job_cpus() noexcept {
  static const int cpus = count_job_cpus();
  return cpus;
}

Location own_location(bool with_cache) noexcept { return {.node = own_node(), .cache = with_cache ? own_cache() : -1}; }

}  // namespace weft::coll
