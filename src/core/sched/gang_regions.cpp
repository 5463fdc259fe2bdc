// SPDX-License-Identifier: Apache-2.0
#include "core/sched/gang_regions.h"

#include <algorithm>

#include "core/sched/pool.h"
#include "core/sched/upcalls.h"

namespace weft::core {

GangRegions g_gang_regions;

bool GangRegions::has(const void* function) const noexcept {
  for (size_t i = 0; i < kTries; ++i) {
    if (functions_[entry(function, i)].load(std::memory_order_relaxed) == function) return true;
  }
  return false;
}

bool GangRegions::add(const void* function) noexcept {
  if (has(function)) return true;
  for (size_t i = 0; i < kTries; ++i) {
    auto& word = functions_[entry(function, i)];
    if (word.load(std::memory_order_relaxed) != nullptr) continue;
    word.store(function, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void GangRegions::remove(const void* function) noexcept {
  for (size_t i = 0; i < kTries; ++i) {
    auto& word = functions_[entry(function, i)];
    if (word.load(std::memory_order_relaxed) != function) continue;
    word.store(nullptr, std::memory_order_relaxed);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void GangRegions::clear() noexcept {
  for (auto& word : functions_) word.store(nullptr, std::memory_order_relaxed);
  count_.store(0, std::memory_order_relaxed);
}

namespace {

// How many carriers come at once when the caller's region begins; those lent to other regions do not count.
int free_carriers(const Pool& p, const Context* self) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  const int limit = p.free_limit();
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p.carrier(i);
    if (carrier == self->carrier || carrier->is_root() || carrier->worker >= limit || !p.allowed(carrier)) continue;
    if (!carrier->ready.empty()) continue;
    // Relaxed: these are guesses, since things may have changed when they are used.
    found += carrier->waiting.load(std::memory_order_relaxed) || p.is_idle(carrier) ? 1 : 0;
  }
  return found + p.unmade_workers();
}

}  // namespace

int lend_to_gang_region(ParallelCall* parallel_call, int size) noexcept {
  if (!g_gang_regions.has(parallel_call->function.load(std::memory_order_relaxed))) return 0;
  // The mark is set also where no carrier is missing: carriers of all NUMA nodes are counted, so all of them have to
  // come.
  parallel_call->gang.store(true, std::memory_order_relaxed);
  const int missing = size - 1 - free_carriers(pool(), current_context());
  if (missing <= 0) return 0;
  const int lent = lend_region_threads(missing);
  if (lent > 0) pool().regions_lent.fetch_add(1, std::memory_order_relaxed);
  return lent;
}

int lend_region_threads(int missing) noexcept {
  Pool& p = pool();
  p.lent_to_regions.fetch_add(missing, std::memory_order_relaxed);
  const int wanted = p.worker_limit();
  grow_workers(std::min(wanted, kMaxWorkers));
  const int refused = std::clamp(wanted - p.worker_count.load(std::memory_order_acquire), 0, missing);
  if (refused > 0) return_region_threads(refused);
  return missing - refused;
}

void return_region_threads(int lent) noexcept { pool().lent_to_regions.fetch_sub(lent, std::memory_order_relaxed); }

}  // namespace weft::core
