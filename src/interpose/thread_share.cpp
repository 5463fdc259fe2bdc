// SPDX-License-Identifier: Apache-2.0
#include "interpose/thread_share.h"

#include <algorithm>
#include <atomic>
#include <climits>

#include "base/options.h"
#include "core/api/budget.h"
#include "core/api/fork.h"
#include "interpose/copy.h"
#include "interpose/own_limits.h"
#include "interpose/wait_loops.h"
#include "platform/cycles.h"
#include "platform/spinlock.h"

namespace weft::interpose {

namespace {

platform::Spinlock g_share_lock;  // guards the variables below, and the limits of copies
constexpr int kAll = INT_MAX;  // no share is in force
// Relaxed: readers need the number alone.
std::atomic<int> g_share{kAll};
ShareCounts g_counts{};

// If the share is lowered so soon after a raise, the raise was of no use, and the next one waits twice as long.
constexpr int64_t kShortLivedNs = 50'000'000;
constexpr int64_t kLongestPauseNs = 320'000'000;
int64_t g_raised_ns = 0;
int64_t g_pause_ns = 0;

// Whether a call is split the same way whatever the load is.
bool is_fixed(const Copy& copy) noexcept {
  switch (base::options().reproducible) {
    case base::TriState::yes: return true;
    case base::TriState::no: return false;
    case base::TriState::unset: break;
  }
  return copy.sees(kArraysSeen | kListsSeen);
}

// Writes the number of threads into the copy's variable. A value there that weft has not written is the program's new
// limit. Relaxed: the library reads the number alone.
void apply(Copy* copy) noexcept {
  int* threads = copy->library.threads;
  int seen = __atomic_load_n(threads, __ATOMIC_RELAXED);
  for (;;) {
    if (seen != copy->written) copy->limit = seen;
    const int share = is_fixed(*copy) ? kAll : g_share.load(std::memory_order_relaxed);
    const int wanted = std::min({copy->limit, share, core::started() ? core::slots() : INT_MAX});
    copy->written = wanted;
    if (seen == wanted) return;
    if (__atomic_compare_exchange_n(threads, &seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    copy->written = INT_MIN;  // the program has been faster
  }
}

void apply_to_all() noexcept {
  for (int i = 0; i < copy_count(); ++i) apply(copy(i));
}

bool idle(int cpus, int busy) noexcept {
  g_share_lock.lock();
  const int64_t now = platform::now_ns();
  if (g_share != kAll && now - g_raised_ns >= g_pause_ns) {
    // Each busy thread may be a caller; then the callers share the CPUs. If there are fewer, they get more at the next
    // look.
    const int slots = core::slots();
    const int share = g_share.load(std::memory_order_relaxed);
    g_share = std::min({slots, share + cpus, std::max(share + 1, slots / std::max(1, busy))});
    if (g_share == slots) g_share = kAll;
    g_raised_ns = now;
    ++g_counts.raised;
  }
  apply_to_all();
  const bool in_force = g_share != kAll;
  g_share_lock.unlock();
  return in_force;
}

void lower_to(int share) noexcept {
  if (share >= core::slots()) return;
  g_share_lock.lock();
  if (share < g_share) {
    const bool short_lived = platform::now_ns() - g_raised_ns < kShortLivedNs + g_pause_ns;
    constexpr int64_t kFirstPauseNs = 10'000'000;
    g_pause_ns = short_lived ? std::clamp(2 * g_pause_ns, kFirstPauseNs, kLongestPauseNs) : 0;
    g_share = share;
    ++g_counts.lowered;
  }
  apply_to_all();
  core::watch_idle_cpus(idle);
  g_share_lock.unlock();
}

}  // namespace

void begin_share(Copy* copy) noexcept {
  g_share_lock.lock();
  copy->written = INT_MIN;
  apply(copy);
  g_share_lock.unlock();
  core::watch_contention(lower_to);
}

void lower_share(int helpers) noexcept {
  const int callers = std::max(1, core::busy_carriers() - helpers);
  lower_to(std::max(1, core::slots() / callers));
}

int carriers_of_a_call(const Copy* copy) noexcept {
  return std::min({core::slots(), g_share.load(std::memory_order_relaxed), own_limit(copy)});
}

void keep_to_share(Copy* copy) noexcept {
  g_share_lock.lock();
  apply(copy);
  g_share_lock.unlock();
}

int process_limit(Copy* copy) noexcept {
  g_share_lock.lock();
  apply(copy);
  const int threads = copy->limit;
  g_share_lock.unlock();
  return threads;
}

void set_process_limit(Copy* copy, int threads) noexcept {
  g_share_lock.lock();
  apply(copy);
  copy->limit = threads;
  apply(copy);
  g_share_lock.unlock();
}

void before_fork() noexcept { g_share_lock.lock(); }

void after_fork(bool in_child) noexcept {
  if (in_child) {
    g_share = kAll;
    apply_to_all();
  }
  g_share_lock.unlock();
}

ShareCounts share_counts() noexcept {
  g_share_lock.lock();
  ShareCounts counts = g_counts;
  counts.share = g_share;
  g_share_lock.unlock();
  return counts;
}

}  // namespace weft::interpose
