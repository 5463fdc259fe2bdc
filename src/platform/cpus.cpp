// SPDX-License-Identifier: Apache-2.0
#include "platform/cpus.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <sched.h>

#include "platform/small_file.h"

namespace weft::platform {

namespace {

using Path = char[PATH_MAX];

// The initial thread's stack may be a few pages (ulimit -s).
struct Buffers {
  Path path;    // of the group's root
  Path folder;  // of one of the group's parents
  Path file;
  char text[8192];
};

// quota and period in microseconds; a quota of -1 or "max" means none.
int millis(long long quota, long long period) noexcept {
  if (quota <= 0 || period <= 0) return 0;
  // More than all CPUs there are is as good as none.
  if (quota > LLONG_MAX / 2000) return 0;
  const long long wanted = quota * 1000 / period + (quota * 1000 % period != 0 ? 1 : 0);
  return static_cast<int>(std::min<long long>(wanted, INT_MAX));
}

int smaller(int a, int b) noexcept { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

int quota_v2(const char* folder, Path& path) noexcept {
  char text[128];
  std::snprintf(path, sizeof path, "%s/cpu.max", folder);
  long long quota = 0;
  long long period = 0;
  if (!read_small_file(path, text, sizeof text) || std::sscanf(text, "%lld %lld", &quota, &period) != 2) return 0;
  return millis(quota, period);
}

int quota_v1(const char* folder, Path& path) noexcept {
  char text[128];
  std::snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
  if (!read_small_file(path, text, sizeof text)) return 0;
  const long long quota = std::strtoll(text, nullptr, 10);
  std::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
  if (!read_small_file(path, text, sizeof text)) return 0;
  return millis(quota, std::strtoll(text, nullptr, 10));
}

// The tightest quota of `group` below `mount` and of all its parents.
int tightest(Buffers& at, const char* group, int (*quota)(const char*, Path&)) noexcept {
  const char* const mount = at.path;
  Path& folder = at.folder;
  int least = quota(mount, at.file);
  size_t length = std::strlen(mount);
  std::snprintf(folder, sizeof folder, "%s%s", mount, std::strcmp(group, "/") == 0 ? "" : group);
  while (std::strlen(folder) > length) {
    least = smaller(least, quota(folder, at.file));
    *std::strrchr(folder, '/') = '\0';
  }
  return least;
}

// Whether `controllers` ("cpu,cpuacct") holds cpu.
bool has_cpu(const char* controllers) noexcept {
  for (const char* at = controllers; at != nullptr && *at != '\0';) {
    const char* end = std::strchr(at, ',');
    const size_t size = end != nullptr ? static_cast<size_t>(end - at) : std::strlen(at);
    if (size == 3 && std::strncmp(at, "cpu", 3) == 0) return true;
    at = end != nullptr ? end + 1 : nullptr;
  }
  return false;
}

}  // namespace

int cgroup_quota_millis(const char* root) noexcept {
  const std::unique_ptr<Buffers> at(new (std::nothrow) Buffers);
  if (at == nullptr) return 0;
  Path& path = at->path;
  auto& text = at->text;
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (!read_small_file(path, text, sizeof text)) return 0;
  int least = 0;
  char* rest = nullptr;
  // Lines "hierarchy:controllers:/group"; version 2 has no controllers.
  for (char* line = strtok_r(text, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest)) {
    char* controllers = std::strchr(line, ':');
    char* group = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (group == nullptr) continue;
    *group++ = '\0';
    ++controllers;
    // Inside a container the group is often seen as "/" or as a path that is not mounted here: then the mount's own
    // root is what counts, which `tightest` looks at as well.
    if (*controllers == '\0') {
      std::snprintf(path, sizeof path, "%s/sys/fs/cgroup", root);
      least = smaller(least, tightest(*at, group, quota_v2));
    } else if (has_cpu(controllers)) {
      std::snprintf(path, sizeof path, "%s/sys/fs/cgroup/cpu", root);
      least = smaller(least, tightest(*at, group, quota_v1));
    }
  }
  return least;
}

int current_cpu() noexcept { return sched_getcpu(); }

void leave_cpu(int cpu) noexcept {
  cpu_set_t mask;
  // Machines with more CPUs than cpu_set_t holds: an error, and the thread stays.
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  cpu_set_t others = mask;
  CPU_CLR(static_cast<size_t>(cpu), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof mask, &mask);
}

CpuBudget cpu_budget() noexcept {
  CpuBudget budget;
  // The kernel's mask may be longer than cpu_set_t: grow until it fits.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<size_t>(cpus));
    if (mask == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    const bool fits = sched_getaffinity(0, size, mask) == 0;
    if (fits) budget.affinity = std::max(1, CPU_COUNT_S(size, mask));
    CPU_FREE(mask);
    if (fits) break;
  }
  budget.quota_millis = cgroup_quota_millis("");
  budget.usable = budget.affinity;
  if (budget.quota_millis > 0) budget.usable = std::clamp((budget.quota_millis + 999) / 1000, 1, budget.affinity);
  return budget;
}

}  // namespace weft::platform
