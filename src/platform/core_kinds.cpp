// SPDX-License-Identifier: Apache-2.0
#include "platform/core_kinds.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "platform/small_file.h"

namespace weft::platform {

namespace {

// The kernel names a hybrid processor's performance counters by the type of core, and says which CPUs have them.
CpuSet cpus_with(const char* root, const char* counters) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/sys/devices/%s/cpus", root, counters);
  char text[16384];
  return read_small_file(path, text, sizeof text) ? parse_cpu_list(text) : CpuSet();
}

// 1024 for the strongest; 0: the kernel does not say.
int capacity_of(const char* root, int cpu) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cpu_capacity", root, cpu);
  char text[32];
  if (!read_small_file(path, text, sizeof text)) return 0;
  return static_cast<int>(std::clamp(std::strtol(text, nullptr, 10), 0L, long{INT_MAX}));
}

}  // namespace

CoreKinds::CoreKinds(const CpuSet& cpus, const char* root) noexcept
    : atom_(cpus_with(root, "cpu_atom")), core_(cpus_with(root, "cpu_core")) {
  atom_.keep_only(cpus);
  core_.keep_only(cpus);
  for (const int cpu : each(cpus)) {
    const int capacity = capacity_of(root, cpu);
    ranks_.add({cpu, capacity > 0 ? capacity : core_.has(cpu) ? 1 : 0});
  }
}

int CoreKinds::efficiency(int cpu) const noexcept {
  const auto* mine = std::find_if(ranks_.begin(), ranks_.end(), [cpu](const Rank& rank) { return rank.cpu == cpu; });
  if (mine == ranks_.end()) return 0;
  // The weaker capacities, each once.
  int weaker = 0;
  for (int below = mine->capacity;; ++weaker) {
    int next = -1;
    for (const Rank& rank : ranks_) {
      if (rank.capacity < below) next = std::max(next, rank.capacity);
    }
    if (next < 0) return weaker;
    below = next;
  }
}

}  // namespace weft::platform
