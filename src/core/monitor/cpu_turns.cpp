// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/cpu_turns.h"

#include <array>
#include <atomic>
#include <ctime>

#include "core/sched/pool.h"
#include "platform/cycles.h"
#include "platform/service_thread.h"
#include "platform/thread_state.h"
#include "platform/time_slice.h"

namespace weft::core {

namespace {

// A turn must be long beside a switch, which takes some microseconds with what it costs in caches.
constexpr long kTurnNs = 100'000;
// The monitor says anew every 5 ms that a CPU is shared; a region that begins soon finds the thread there.
constexpr int64_t kLingerNs = 50'000'000;
constexpr size_t kTurnStackSize = 256u << 10;  // the program's thread-local data lies there too

// Until when the thread of each CPU goes on waking; 0: there is no thread. Whoever takes the word from 0 starts one,
// and the thread ends when it has put 0 in place of a time that has passed. So a CPU has one thread at most. Relaxed:
// no other data belongs to a word.
std::array<std::atomic<int64_t>, platform::CpuSet::kMost> g_until{};

void* take_turns(void* argument) {
  auto& until = *static_cast<std::atomic<int64_t>*>(argument);
  platform::CpuSet own;
  own.add(static_cast<int>(&until - g_until.data()));
  // On another CPU it would be of no use; it ends with the time that it was made for.
  const bool bound = platform::bind_thread(own);
  platform::ask_for_short_time_slices();
  platform::ask_for_exact_timers();
  for (;;) {
    int64_t end = until.load(std::memory_order_relaxed);
    const bool passed = platform::now_ns() >= end;
    if (passed && until.compare_exchange_strong(end, 0, std::memory_order_relaxed)) return nullptr;
    const timespec turn{0, bound ? kTurnNs : static_cast<long>(kLingerNs)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &turn, nullptr);
  }
}

// The CPU where the carrier has run last; -1: not known. As the kernel keeps it for threads that have left libc's rseq
// area. It is asked about a few of the others, since that takes some 10 us: roots that never wait.
int cpu_of(const Carrier& carrier, int& asked) noexcept {
  constexpr int kMostAsked = 4;
  // Volatile: the kernel writes it. A carrier that has none holds what the area begins with.
  const uint32_t cpu = *const_cast<const volatile uint32_t*>(&carrier.rseq_area.cpu_id);
  if (cpu != UINT32_MAX) return static_cast<int>(cpu);
  if (!carrier.is_root() || !carrier.holds_slot.load(std::memory_order_relaxed) || ++asked > kMostAsked) return -1;
  return platform::cpu_of_thread(carrier.thread_id.load(std::memory_order_relaxed));
}

}  // namespace

// Whether threads have been lent to gangs since the last tick.
bool CpuTurns::gangs_are_crowded(const Pool& p) noexcept {
  const uint64_t lent = p.regions_lent.load(std::memory_order_relaxed);
  const bool some = lent != regions_lent_before_ || p.lent_to_regions.load(std::memory_order_relaxed) > 0 ||
                    p.lent_to_gangs.load(std::memory_order_relaxed) > 0;
  regions_lent_before_ = lent;
  return some;
}

void CpuTurns::tick(const Pool& p) noexcept {
  if (!gangs_are_crowded(p)) return;
  used_ = shared_ = {};
  int asked = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p.carrier(i);
    if (p.is_idle(&carrier)) continue;
    const int cpu = cpu_of(carrier, asked);
    if (cpu < 0 || cpu >= platform::CpuSet::kMost) continue;
    (used_.has(cpu) ? shared_ : used_).add(cpu);
  }
  const int64_t until = platform::now_ns() + kLingerNs;
  for (const int cpu : platform::each(shared_)) {
    std::atomic<int64_t>& word = g_until[static_cast<size_t>(cpu)];
    if (word.exchange(until, std::memory_order_relaxed) != 0) continue;
    if (!platform::start_service_thread(take_turns, &word, kTurnStackSize)) word.store(0, std::memory_order_relaxed);
  }
}

void forget_cpu_turns() noexcept {
  for (std::atomic<int64_t>& word : g_until) word.store(0, std::memory_order_relaxed);
}

}  // namespace weft::core
