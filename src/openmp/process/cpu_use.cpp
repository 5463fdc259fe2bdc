// SPDX-License-Identifier: Apache-2.0
#include "openmp/process/cpu_use.h"

#include <cstdint>
#include <cstdio>

#include <dirent.h>
#include <sys/resource.h>

#include "platform/cycles.h"
#include "platform/small_file.h"

namespace weft::openmp {

namespace {

constexpr double kNs = 1e-9;

double used_so_far() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The kernel's second number of schedstat: nanoseconds in a queue for a CPU.
double delayed_so_far() noexcept {
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return 0;
  double sum = 0;
  while (const dirent* entry = readdir(threads)) {
    char path[64];
    char text[128];
    unsigned long long ran = 0;
    unsigned long long waited = 0;
    const int length = std::snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
    if (entry->d_name[0] == '.' || length >= static_cast<int>(sizeof path)) continue;
    if (!platform::read_small_file(path, text, sizeof text)) continue;
    if (std::sscanf(text, "%llu %llu", &ran, &waited) == 2) sum += static_cast<double>(waited) * kNs;
  }
  closedir(threads);
  return sum;
}

// Written once, when the library is loaded.
int64_t g_began_ns = 0;
CpuUse g_before;

}  // namespace

void begin_cpu_use() noexcept {
  g_began_ns = platform::now_ns();
  g_before.used = used_so_far();
  g_before.delayed = delayed_so_far();
}

CpuUse cpu_use() noexcept {
  const double seconds = static_cast<double>(platform::now_ns() - g_began_ns) * kNs;
  return {seconds, used_so_far() - g_before.used, delayed_so_far() - g_before.delayed};
}

}  // namespace weft::openmp
