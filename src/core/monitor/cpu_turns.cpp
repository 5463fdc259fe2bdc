// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/cpu_turns.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>

#include <sys/syscall.h>

#include "core/sched/pool.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/service_thread.h"
#include "platform/system_call.h"
#include "platform/thread_state.h"
#include "platform/time_slice.h"

namespace weft::core {

namespace {

// A turn must be long beside a switch, which takes some microseconds with what it costs in caches.
constexpr long kTurnNs = 100'000;
// The monitor says anew every 5 ms that a CPU is shared; a region that begins soon finds the thread there.
constexpr int64_t kLingerNs = 50'000'000;
constexpr size_t kTurnStackSize = 256u << 10;

constexpr int64_t kIdleNs = 3'000'000'000;
constexpr int64_t kBetweenTriesNs = 1'000'000'000;

// The thread of a CPU.
struct Turn {
  // Until when it goes on waking; 0: there is no thread. The monitor, which takes the word from 0, starts one, and the
  // thread ends when it has put 0 in place of a time that has passed. So a CPU has one thread at most.
  std::atomic<int64_t> until{0};
  // It sleeps until it is called. The thread sets it and then looks at `until`; the monitor sets that and then looks
  // here: sequentially consistent, so that one of them sees the other.
  std::atomic<uint32_t> parked{0};
};
std::array<Turn, platform::CpuSet::kMost> g_turns{};

// Whether nobody has called it for long, and it is to end.
bool park(Turn& turn) noexcept {
  turn.parked.store(1);
  int64_t end = turn.until.load();
  bool passed = platform::now_ns() >= end;
  if (passed && platform::futex_wait_for(turn.parked, 1, kIdleNs)) {
    end = turn.until.load();
    passed = platform::now_ns() >= end;
    if (passed && turn.until.compare_exchange_strong(end, 0)) return true;
  }
  turn.parked.store(0);
  return false;
}

void* take_turns(void* argument) {
  Turn& turn = *static_cast<Turn*>(argument);
  turn.parked.store(0);
  platform::CpuSet own;
  own.add(static_cast<int>(&turn - g_turns.data()));
  // On another CPU it would be of no use, and without a clock it would take the CPU from those whom it is to serve.
  bool serves = platform::bind_thread(own);
  platform::ask_for_short_time_slices();
  platform::ask_for_exact_timers();
  constexpr timespec kTurn{0, kTurnNs};
  for (;;) {
    if (serves && platform::now_ns() < turn.until.load()) {
      const long result = platform::system_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kTurn, nullptr);
      serves = result == 0 || result == -EINTR;
    } else if (!serves) {
      constexpr timespec kLong{1, 0};
      if (platform::system_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kLong, nullptr) != 0) return nullptr;
    } else if (park(turn)) {
      return nullptr;
    }
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
  const int64_t now = platform::now_ns();
  for (const int cpu : platform::each(shared_)) {
    Turn& turn = g_turns[static_cast<size_t>(cpu)];
    if (turn.until.load() == 0 && now < next_try_ns_) continue;
    if (turn.until.exchange(now + kLingerNs) == 0) {
      if (platform::start_service_thread(take_turns, &turn, kTurnStackSize)) continue;
      turn.until.store(0);
      next_try_ns_ = now + kBetweenTriesNs;
    } else if (turn.parked.exchange(0) != 0) {
      platform::futex_wake(turn.parked, 1);
    }
  }
}

void forget_cpu_turns() noexcept {
  for (Turn& turn : g_turns) turn.until.store(0);
}

}  // namespace weft::core
