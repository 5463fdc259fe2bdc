// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use at once.
#pragma once

namespace weft::platform {

struct CpuBudget {
  int affinity = 1;      // CPUs in the affinity mask (sched_getaffinity(2))
  int quota_millis = 0;  // thousandths of a CPU that the cgroup's quota allows; 0: no quota
  int usable = 1;        // the smaller of the two, the quota rounded up; at least 1
};

// Reads mask and cgroups (v2 cpu.max, v1 cpu.cfs_quota_us) of this process, up to the root of the hierarchy. What
// cannot be read counts as no limit. Some tens of microseconds; thread-safe.
CpuBudget cpu_budget() noexcept;

// The quota in thousandths of a CPU, 0 for none, with /proc and /sys looked up below `root` ("" for the real ones).
int cgroup_quota_millis(const char* root) noexcept;

// The CPU the caller runs on.
int current_cpu() noexcept;

// Moves the calling thread to another CPU of its affinity mask, if there is one. The mask is as before afterwards.
void leave_cpu(int cpu) noexcept;

}  // namespace weft::platform
