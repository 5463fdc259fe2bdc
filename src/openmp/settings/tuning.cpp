// SPDX-License-Identifier: Apache-2.0
#include "openmp/settings/tuning.h"

#include <algorithm>
#include <atomic>
#include <climits>

#include <sys/resource.h>

#include "base/options.h"
#include "core/api/budget.h"
#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/settings/icv.h"
#include "platform/valgrind.h"

namespace weft::openmp {

namespace {

// How long a waiter spins (microseconds): the default covers the serial parts between regions of a loop
// that opens many; a passive waiter only bridges what a switch of context would cost; an active one stays.
constexpr long kSpinDefault = 1000;
constexpr long kSpinPassive = 4;
constexpr long kSpinActive = 50'000;

// libomp's block time when nothing is set. Programs that save and restore it mean the default then.
constexpr int kBlockTimeDefault = 200;

// What the program has set; -1 and 0: nothing. Relaxed: each is a value by itself.
std::atomic<int> g_block_time{-1};
std::atomic<int> g_library{static_cast<int>(Library::throughput)};
std::atomic<size_t> g_stack_size{0};

long spin_us() noexcept {
  const base::Options& options = base::options();
  if (options.spin_us >= 0) return options.spin_us;
  // valgrind runs one thread at a time: a thread that spins only keeps the one that it waits for from running.
  if (platform::on_valgrind()) return 0;
  if (library() == Library::turnaround) return kSpinActive;
  const int block_time_set = g_block_time.load(std::memory_order_relaxed);
  if (block_time_set == 0) return kSpinPassive;
  if (block_time_set > 0 && block_time_set != kBlockTimeDefault) return std::min(block_time_set * 1000L, kSpinActive);
  switch (options.wait_policy) {
    case base::WaitPolicy::active: return kSpinActive;
    case base::WaitPolicy::passive: return kSpinPassive;
    default: return kSpinDefault;
  }
}

void take_effect() noexcept {
  if (core::started()) core::set_spin_ns(spin_ns());
}

}  // namespace

long spin_ns() noexcept { return spin_us() * 1000; }

int block_time() noexcept {
  if (const int set = g_block_time.load(std::memory_order_relaxed); set >= 0) return set;
  switch (base::options().wait_policy) {
    case base::WaitPolicy::active: return INT_MAX;
    case base::WaitPolicy::passive: return 0;
    default: return kBlockTimeDefault;
  }
}

void set_block_time(int milliseconds) noexcept {
  g_block_time.store(std::max(milliseconds, 0), std::memory_order_relaxed);
  take_effect();
}

Library library() noexcept { return static_cast<Library>(g_library.load(std::memory_order_relaxed)); }

void set_library(Library library) noexcept {
  Member* member = self();
  // Inside a region it is too late, as under libomp.
  if (member->team->active_level > 0) return;
  g_library.store(static_cast<int>(library), std::memory_order_relaxed);
  own_icvs(member).nthreads = library == Library::serial ? 1 : initial_icvs().nthreads;
  take_effect();
}

size_t stack_size() noexcept {
  if (const size_t set = g_stack_size.load(std::memory_order_relaxed); set > 0) return set;
  // Without OMP_STACKSIZE a member's stack is what a thread's would be.
  constexpr size_t kDefault = 8u << 20;
  const long bytes = base::options().stack_size.bytes;
  if (bytes > 0) return static_cast<size_t>(bytes);
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kDefault;
  return std::clamp(static_cast<size_t>(limit.rlim_cur), size_t{256} << 10, size_t{64} << 20);
}

void set_stack_size(size_t bytes) noexcept {
  // The bounds of OMP_STACKSIZE.
  constexpr size_t kLeast = size_t{64} << 10;
  constexpr size_t kMost = size_t{1} << 40;
  if (!core::started()) g_stack_size.store(std::clamp(bytes, kLeast, kMost), std::memory_order_relaxed);
}

}  // namespace weft::openmp
