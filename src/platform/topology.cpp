// SPDX-License-Identifier: Apache-2.0
#include "platform/topology.h"

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "platform/small_file.h"

namespace weft::platform {

namespace {

// The list of CPUs in a file below `root`; empty when there is none.
[[gnu::format(printf, 2, 3)]] CpuSet read_list(const char* root, const char* format, ...) noexcept {
  char name[128];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(name, sizeof name, format, arguments);
  va_end(arguments);
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/%s", root, name);
  char text[16384];
  return read_small_file(path, text, sizeof text) ? parse_cpu_list(text) : CpuSet();
}

CpuSet core_of(const char* root, int cpu) noexcept {
  const CpuSet set = read_list(root, "cpu/cpu%d/topology/core_cpus_list", cpu);
  // The name before Linux 5.3.
  return set.empty() ? read_list(root, "cpu/cpu%d/topology/thread_siblings_list", cpu) : set;
}

CpuSet socket_of(const char* root, int cpu) noexcept {
  const CpuSet set = read_list(root, "cpu/cpu%d/topology/package_cpus_list", cpu);
  return set.empty() ? read_list(root, "cpu/cpu%d/topology/core_siblings_list", cpu) : set;
}

CpuSet die_of(const char* root, int cpu) noexcept { return read_list(root, "cpu/cpu%d/topology/die_cpus_list", cpu); }

CpuSet last_cache_of(const char* root, int cpu) noexcept {
  constexpr int kMostCaches = 16;
  CpuSet shared;
  long highest = 0;
  for (int index = 0; index < kMostCaches; ++index) {
    char path[PATH_MAX];
    std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cache/index%d/level", root, cpu, index);
    char text[32];
    if (!read_small_file(path, text, sizeof text)) break;
    const long level = std::strtol(text, nullptr, 10);
    if (level <= highest) continue;
    highest = level;
    shared = read_list(root, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
  }
  return shared;
}

}  // namespace

void Topology::set_leader(Level level, const CpuSet& group, const CpuSet& cpus) noexcept {
  CpuSet here = group;
  here.keep_only(cpus);
  for (const int cpu : each(here)) leaders_[static_cast<size_t>(level)][cpu] = static_cast<int16_t>(here.first());
}

Topology::Topology(const CpuSet& cpus, const char* root) noexcept {
  for (Leaders& of_level : leaders_) of_level.fill(-1);
  for (const int cpu : each(cpus)) {
    CpuSet self;
    self.add(cpu);
    const auto unknown = [&](Level level) { return leader(level, cpu) < 0; };
    set_leader(Level::threads, self, cpus);
    if (unknown(Level::cores)) set_leader(Level::cores, core_of(root, cpu), cpus);
    if (unknown(Level::cores)) set_leader(Level::cores, self, cpus);
    if (unknown(Level::ll_caches)) set_leader(Level::ll_caches, last_cache_of(root, cpu), cpus);
    if (unknown(Level::sockets)) set_leader(Level::sockets, socket_of(root, cpu), cpus);
    if (unknown(Level::dies)) set_leader(Level::dies, die_of(root, cpu), cpus);
  }
  const CpuSet nodes = read_list(root, "node/online");
  for (const int node : each(nodes)) {
    set_leader(Level::numa_domains, read_list(root, "node/node%d/cpulist", node), cpus);
  }
  // What is still unknown is shared by all.
  for (const Level level : {Level::ll_caches, Level::numa_domains, Level::sockets}) {
    for (const int cpu : each(cpus)) {
      if (leader(level, cpu) < 0) leaders_[static_cast<size_t>(level)][cpu] = static_cast<int16_t>(cpus.first());
    }
  }
  for (const int cpu : each(cpus)) {
    if (leader(Level::dies, cpu) < 0) {
      leaders_[static_cast<size_t>(Level::dies)][cpu] = static_cast<int16_t>(leader(Level::sockets, cpu));
    }
    order_.add(cpu);
  }
  const auto key = [this](int cpu) { return std::tuple(leader(Level::sockets, cpu), leader(Level::cores, cpu), cpu); };
  std::sort(order_.begin(), order_.end(), [&](int a, int b) { return key(a) < key(b); });
}

}  // namespace weft::platform
