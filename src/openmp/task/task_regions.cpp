// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_regions.h"

#include <array>
#include <atomic>

#include "base/address_hash.h"

namespace weft::openmp {

namespace {

// A table of functions whose last region has pushed tasks. Each region reads its entry; it is written only where a
// region differs from the last one of its function. Relaxed: where functions share an entry, a region gathers its
// members in vain, or not at all.
constexpr unsigned kBits = 8;
alignas(64) std::array<std::atomic<const void*>, 1 << kBits> g_functions{};

std::atomic<const void*>& entry_of(const void* function) noexcept {
  return g_functions[base::address_hash<kBits>(function)];
}

}  // namespace

bool pushes_tasks(const void* function) noexcept {
  return entry_of(function).load(std::memory_order_relaxed) == function;
}

void note_tasks(const void* function, bool pushed) noexcept {
  std::atomic<const void*>& entry = entry_of(function);
  const bool known = entry.load(std::memory_order_relaxed) == function;
  if (known != pushed) entry.store(pushed ? function : nullptr, std::memory_order_relaxed);
}

}  // namespace weft::openmp
