// SPDX-License-Identifier: Apache-2.0
#include "interpose/statistics.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "base/options.h"
#include "interpose/copy.h"
#include "interpose/thread_share.h"

namespace weft::interpose {

namespace {

// Relaxed: counts and no more.
std::atomic<uint64_t> g_calls_counted{0};
std::atomic<uint64_t> g_jobs{0};
std::atomic<uint64_t> g_lent{0};
std::atomic<uint64_t> g_alone{0};

// For users: only where there was something.
void print_summary() noexcept {
  const unsigned long long divided = g_calls_counted.load();
  const unsigned long long alone = g_alone.load();
  if (divided + alone == 0) return;
  char text[160];
  const int size =
      std::snprintf(text, sizeof text, "  OpenBLAS on weft: %llu calls divided, %llu not\n", divided, alone);
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) return;
}

void print() noexcept {
  if (base::options().stats == base::Stats::summary) return print_summary();
  const ShareCounts shares = share_counts();
  char text[512];
  const int size =
      std::snprintf(text, sizeof text,
                    "  libraries adopted: %d, calls: %llu, jobs: %llu, threads lent to them: %llu, not divided: %llu, "
                    "shares lowered: %lu, raised: %lu\n",
                    copy_count(), static_cast<unsigned long long>(g_calls_counted.load()),
                    static_cast<unsigned long long>(g_jobs.load()), static_cast<unsigned long long>(g_lent.load()),
                    static_cast<unsigned long long>(g_alone.load()), shares.lowered, shares.raised);
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) return;
}

// Behind what openmp/process/startup.cpp prints, under its heading: exit handlers run the newest first.
[[gnu::constructor(101)]] void on_load() {
  if (base::options().stats != base::Stats::off) std::atexit([] { print(); });
}

}  // namespace

void count_gang(int jobs, int lent) noexcept {
  if (base::options().stats == base::Stats::off) return;
  g_calls_counted.fetch_add(1, std::memory_order_relaxed);
  g_jobs.fetch_add(static_cast<uint64_t>(jobs), std::memory_order_relaxed);
  g_lent.fetch_add(static_cast<uint64_t>(lent), std::memory_order_relaxed);
}

void count_alone() noexcept {
  if (base::options().stats != base::Stats::off) g_alone.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace weft::interpose
