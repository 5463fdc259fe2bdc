// SPDX-License-Identifier: Apache-2.0
#include "core/sched/cpu_spread.h"

#include <algorithm>

#include <sched.h>

#include "base/keep_errno.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "platform/cpus.h"
#include "platform/cycles.h"
#include "platform/thread_state.h"

namespace weft::core {

namespace {

// So many threads are looked at, at most: for each a small file is read.
constexpr int kMostLooks = 4;

// A yield that takes longer than this has let another thread run. It may be one of a carrier that waits as well by now:
// where two carriers share a CPU and wait for each other by turns, neither waits for long.
constexpr int64_t kSwitchNs = 2'000;

// Where others want all CPUs, two carriers on one CPU wait for none of those others, and lose nothing by it while they
// work for long at a time. Where each turn is a brief one, they wait for each other all the time and lose a switch
// each.
constexpr int64_t kBriefNs = 30'000;
constexpr int kBriefTurns = 8;  // one after the other

// Between two looks that follow such yields. Where others use all CPUs the kernel may bring the two together again, or
// the other thread is none of those that are looked at: looks that follow each other come ever more rarely.
constexpr int64_t kLeastPauseNs = 500'000;
constexpr int64_t kMostPauseNs = 32'000'000;

bool is_working(const Pool& p, const Carrier* carrier, bool waiting_too) noexcept {
  // Relaxed, as everything here: where the answer is wrong, a carrier is looked at in vain, or later.
  if (p.is_idle(carrier) || (!waiting_too && carrier->waiting.load(std::memory_order_relaxed))) return false;
  return carrier->is_root() ? carrier->holds_slot.load(std::memory_order_relaxed) : p.allowed(carrier);
}

}  // namespace

bool CpuSpread::yield(Carrier* mine, int64_t now) noexcept {
  sched_yield();
  const int64_t after = platform::now_ns();
  note_wait(mine, after, after - now);
  SpreadLooks& looks = mine->spread_looks;
  const bool switched = after - now >= kSwitchNs;
  looks.brief_turns = switched && after - now < kBriefNs ? looks.brief_turns + 1 : 0;
  if (!switched) return false;
  given_ns_ += after - now;
  if (after < looks.next_ns) return false;
  if (looks.brief_turns >= kBriefTurns) {
    looks.brief_turns = 0;
    const bool follows = after - looks.last_ns < 4 * looks.pause_ns;
    looks.pause_ns = follows ? std::min(2 * looks.pause_ns, kMostPauseNs) : kLeastPauseNs;
    looks.last_ns = after;
    looks.next_ns = after + looks.pause_ns;
    return true;
  }
  looks.next_ns = after + kLeastPauseNs;
  const base::KeepErrno keep;
  return platform::has_cpu_to_spare();
}

void CpuSpread::move_if_shared(Carrier* mine, bool waiting_too) noexcept {
  // A bound carrier stays where it is; where the workers are bound, all carriers count as bound.
  if (mine->cpus.load(std::memory_order_relaxed) != nullptr || pool().settings.cpus_of_worker != nullptr) return;
  const base::KeepErrno keep;
  const Pool& p = pool();
  const int cpu = platform::current_cpu();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  // Each time others, where there are many.
  int& from = mine->spread_looks.from;
  int looks = 0;
  for (int i = 0; i < count && looks < kMostLooks; ++i) {
    if (++from >= count) from = 0;
    const Carrier* other = p.carrier(from);
    if (other == mine || !is_working(p, other, waiting_too)) continue;
    ++looks;
    if (platform::cpu_of_thread(other->thread_id.load(std::memory_order_relaxed)) != cpu) continue;
    platform::leave_cpu(cpu);
    return;
  }
}

}  // namespace weft::core
