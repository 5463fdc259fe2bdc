// SPDX-License-Identifier: Apache-2.0
#include "place.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <unistd.h>

namespace weft::tune {

namespace {

namespace fs = std::filesystem;

std::string cpu_folder(int cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

// The first CPU that the last cache of this one serves too.
int cache_of(int cpu) {
  int first = -1;
  for (int index = 0;; ++index) {
    std::ifstream in(cpu_folder(cpu) + "/cache/index" + std::to_string(index) + "/shared_cpu_list");
    if (!(in >> first)) return first;
  }
}

int numa_of(int cpu) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(cpu_folder(cpu), error)) {
    int node = -1;
    if (std::sscanf(entry.path().filename().c_str(), "node%d", &node) == 1) return node;
  }
  return 0;
}

void add(int found, bool first, int& into) {
  if (first) into = found;
  if (into != found) into = -1;
}

}  // namespace

int cpus_of(MPI_Comm node) {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  cpu_set_t all;
  MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
  return CPU_COUNT(&all);
}

Location own_location() {
  Location own;
  gethostname(own.host, sizeof own.host - 1);
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    add(cache_of(cpu), own.cpus == 0, own.cache);
    add(numa_of(cpu), own.cpus == 0, own.numa);
    ++own.cpus;
  }
  return own;
}

Level level_between(const Location& a, const Location& b) {
  if (std::strcmp(a.host, b.host) != 0) return Level::kHosts;
  if (a.numa < 0 || a.numa != b.numa) return Level::kNode;
  return a.cache >= 0 && a.cache == b.cache ? Level::kCache : Level::kNuma;
}

const char* name_of(Level level) {
  switch (level) {
    case Level::kCache: return "same cache";
    case Level::kNuma: return "same NUMA node";
    case Level::kNode: return "same host";
    case Level::kHosts: return "other host";
  }
  return "";
}

}  // namespace weft::tune
