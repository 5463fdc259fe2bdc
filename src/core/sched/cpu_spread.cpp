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

SpreadLooks::Look SpreadLooks::note_yield(int64_t before_ns, int64_t after_ns) noexcept {
  const int64_t lasted_ns = after_ns - before_ns;
  const bool switched = is_switch(lasted_ns);
  brief_turns_ = switched && lasted_ns < kBriefNs ? brief_turns_ + 1 : 0;
  if (!switched || after_ns < next_ns_) return Look::kNo;
  if (brief_turns_ < kBriefTurns) {
    next_ns_ = after_ns + kLeastPauseNs;
    return Look::kIfACpuIsFree;
  }
  brief_turns_ = 0;
  const bool follows = after_ns - last_ns_ < 4 * pause_ns_;
  pause_ns_ = follows ? std::min(2 * pause_ns_, kMostPauseNs) : kLeastPauseNs;
  last_ns_ = after_ns;
  next_ns_ = after_ns + pause_ns_;
  return Look::kAlways;
}

bool CpuSpread::yield(Carrier* mine, int64_t now) noexcept {
  sched_yield();
  const int64_t after = platform::now_ns();
  note_wait(mine, after, after - now);
  if (SpreadLooks::is_switch(after - now)) given_ns_ += after - now;
  const SpreadLooks::Look look = mine->spread_looks.note_yield(now, after);
  if (look != SpreadLooks::Look::kIfACpuIsFree) return look == SpreadLooks::Look::kAlways;
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
  int looks = 0;
  for (int i = 0; i < count && looks < kMostLooks; ++i) {
    const Carrier* other = p.carrier(mine->spread_looks.next_carrier(count));
    if (other == mine || !is_working(p, other, waiting_too)) continue;
    ++looks;
    if (platform::cpu_of_thread(other->thread_id.load(std::memory_order_relaxed)) != cpu) continue;
    platform::leave_cpu(cpu);
    return;
  }
}

}  // namespace weft::core
