// SPDX-License-Identifier: Apache-2.0
#include "observe/record/process/others.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "platform/cycles.h"

namespace weft::observe {

Others::Others() noexcept
    : cpus_(platform::thread_cpus()), busy_before_(busy()), own_before_(platform::cpu_time_ns()) {}

int64_t Others::used_of(int64_t all) const noexcept {
  // The kernel's ticks: of each CPU the last one may be missing, or have been another's in part.
  constexpr int64_t kTicks = 20;
  if (all < kTicks * std::max(cpus_.count(), 1) * (1'000'000'000 / sysconf(_SC_CLK_TCK))) return 0;
  return std::clamp<int64_t>((busy() - busy_before_) - (platform::cpu_time_ns() - own_before_), 0, all);
}

// What /proc/stat says of our CPUs, what a hypervisor has taken included.
int64_t Others::busy() const noexcept {
  std::FILE* file = std::fopen("/proc/stat", "re");
  if (file == nullptr) return 0;
  long long ticks = 0;
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    int cpu = 0;
    long long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    const int read = std::sscanf(line, "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &user, &nice, &system,
                                 &idle, &iowait, &irq, &softirq, &steal);
    if (read == 9 && cpu >= 0 && cpu < platform::CpuSet::kMost && cpus_.has(cpu)) {
      ticks += user + nice + system + irq + softirq + steal;
    }
  }
  std::fclose(file);
  return ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

}  // namespace weft::observe
