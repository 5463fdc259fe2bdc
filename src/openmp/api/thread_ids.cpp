// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/thread_ids.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/message.h"
#include "base/options.h"
#include "core/api/fork.h"

namespace weft::openmp {

namespace {

// Threads beside those of the CPUs: the program's own, and those that are lent.
constexpr int kUsual = 64;

// By carrier: a carrier has one OS thread at a time, and carriers of ended threads serve again. From 1 on; 0: none yet.
// Relaxed: an entry is written and read by its carrier's thread alone, and threads that follow each other on a carrier
// are ordered by its lock.
std::array<std::atomic<uint16_t>, core::kMaxCarriers> g_ids{};
std::atomic<int> g_given{0};

void warn_once() noexcept {
  // Relaxed: it only keeps the line from being said twice.
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;
  base::warn("alpi_cpu_logical_id: more than %d threads have asked; set WEFT_ALPI_CPUS to a larger number",
             thread_id_count(core::slots()));
}

}  // namespace

int thread_id_count(int slots) noexcept {
  const int wanted = base::options().alpi_cpus;
  return wanted > 0 ? wanted : std::max(kUsual, 2 * slots);
}

int thread_id() noexcept {
  const int carrier = core::carrier_number();
  if (carrier >= 0) {
    std::atomic<uint16_t>& id = g_ids[static_cast<size_t>(carrier)];
    if (const int mine = id.load(std::memory_order_relaxed)) return mine - 1;
    // Relaxed: each number is given once, whatever the order.
    int given = g_given.load(std::memory_order_relaxed);
    while (given < thread_id_count(core::slots())) {
      if (!g_given.compare_exchange_weak(given, given + 1, std::memory_order_relaxed)) continue;
      id.store(static_cast<uint16_t>(given + 1), std::memory_order_relaxed);
      return given;
    }
  }
  warn_once();
  return -1;
}

}  // namespace weft::openmp
