// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/stalls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include "core/monitor/root_watch.h"
#include "core/sched/gang_regions.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

constexpr int kTicksToKeepLent = 100;
constexpr int kTicksForItsWorker = 40;

// A tick that comes later does so because the process was stopped, or the monitor rested.
constexpr int64_t kLongestTickNs = 100'000'000;

// Sets a flag of a carrier for others to read. Writes only where the flag changes, since a write takes the cache line
// from the carrier. Relaxed: the flags are guesses.
void put(std::atomic<bool>& flag, bool value) noexcept {
  if (flag.load(std::memory_order_relaxed) != value) flag.store(value, std::memory_order_relaxed);
}

}  // namespace

Stalls::Seen& Stalls::seen(int index) noexcept {
  Seen* mine = seen_.find_or_make(index);
  static Seen spare;
  return mine != nullptr ? *mine : spare;
}

// ---- time, and which carriers have moved ----

uint64_t Stalls::activity_of(const Carrier& carrier) noexcept {
  const Statistics& s = carrier.statistics;
  return s.switches.get() + s.calls.get() + s.claims.get() + s.ends.get() +
         carrier.regions_seen.load(std::memory_order_relaxed);
}

// How much a lent thread has got done: members that it has ended or blocked. To have begun one is not enough.
uint64_t Stalls::progress_of(const Carrier& carrier) noexcept {
  return carrier.statistics.ends.get() + carrier.statistics.blocks.get();
}

bool Stalls::runs(const Carrier& carrier) const noexcept {
  if (pool_.is_idle(&carrier)) return false;
  return carrier.is_root() ? carrier.holds_slot.load(std::memory_order_relaxed) : pool_.allowed(&carrier);
}

void Stalls::move_clock() noexcept {
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  int running = 0;
  for (int i = 0; i < count; ++i) running += runs(*pool_.carrier(i)) ? 1 : 0;
  // Guests use CPU time of the process too. But they may also be asleep, so they count for as many as run, at most.
  running += std::min(running, pool_.guest_slots.load(std::memory_order_relaxed));
  int64_t now = platform::cpu_time_ns();
  if (now == 0) now = platform::now_ns() * running;
  if (cpu_before_ns_ != 0) time_ns_ += std::max<int64_t>(0, now - cpu_before_ns_) / std::max(1, running);
  cpu_before_ns_ = now;
}

void Stalls::see_activity() noexcept {
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    Seen& before = seen(i);
    const uint64_t activity = activity_of(carrier);
    before.moved = activity != before.activity;
    if (!before.moved) continue;
    before.asleep = false;
    before.looks_asleep = 0;
    before.activity = activity;
    (carrier.is_root() ? before.quiet_since_ns : workers_quiet_since_ns_) = time_ns_;
  }
}

// For how long no carrier that could do the work of `root` has moved: no worker, and not the root.
int64_t Stalls::quiet_ns(const Carrier* root) noexcept {
  const int64_t own = root != nullptr ? seen(root->index).quiet_since_ns : 0;
  return time_ns_ - std::max(own, workers_quiet_since_ns_);
}

// ---- what waits ----

// Counts the members and contexts that have waited for a whole tick in lists from which nothing was taken meanwhile.
int Stalls::count_stalled() noexcept {
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  int waiting = 0;
  target_ = {};
  starving_ns_ = 0;
  longest_quiet_ns_ = 0;
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *pool_.carrier(i);
    Seen& before = seen(i);
    const int calls = stalled_calls(carrier, before);
    put(carrier.calls_wait, calls > 0);
    const int stalled = calls + stalled_contexts(carrier, before) + (root_stalled(carrier, before) ? 1 : 0);
    if (stalled == 0) before.touched_ns = time_ns_;
    starving_ns_ = std::max(starving_ns_, time_ns_ - before.touched_ns);
    waiting += stalled;
  }
  return waiting;
}

// Makes a region whose members wait the target of a probe: the first one for which nothing has moved for long enough.
void Stalls::note_target(const ParallelCall* parallel_call, const Carrier* root) noexcept {
  const void* function = parallel_call != nullptr ? parallel_call->function.load(std::memory_order_relaxed) : nullptr;
  longest_quiet_ns_ = std::max(longest_quiet_ns_, quiet_ns(root));
  if (function == nullptr) return;
  // From half of the patience on: in its other half see_region() watches whether the region's members get on.
  if (target_.parallel_call != nullptr || 2 * quiet_ns(root) < patience_of(function)) return;
  target_ = {const_cast<ParallelCall*>(parallel_call), function, root};
}

int Stalls::stalled_contexts(Carrier& carrier, Seen& before) noexcept {
  const bool late = is_late(carrier, before);
  const int ready = carrier.ready.size() + (late ? 1 : 0);
  const uint32_t taken = carrier.ready.taken();
  const bool stalled = ready > 0 && before.ready_waited && taken == before.ready_taken;
  before.ready_waited = ready > 0;
  before.ready_taken = taken;
  put(carrier.stuck, stalled);
  if (!stalled) return 0;
  Work work;
  const bool found = carrier.ready.has([&work](const Context* context) {
    work = {context->root, context->parallel_call.load(std::memory_order_relaxed)};
    return true;
  });
  if (found && !pool_.allowed(&carrier)) call_roots(carrier);
  // A context without a body may be read here: its record stays, and serves nothing else while it waits.
  const Context* stub = late && !found ? carrier.bodiless_ready.load(std::memory_order_acquire) : nullptr;
  if (stub != nullptr)
    work = {carrier.bodiless_root.load(std::memory_order_relaxed), stub->parallel_call.load(std::memory_order_relaxed)};
  if (found || stub != nullptr) note_target(work.parallel_call, work.root);
  return ready;
}

// Roots whose contexts stand in the list of a worker that may not run. Each does its own work, if it has fallen asleep
// before that worker was sent away.
void Stalls::call_roots(Carrier& worker) noexcept {
  std::array<Carrier*, kMostCalled> roots{};
  size_t count = 0;
  worker.ready.has([&roots, &count](const Context* context) {
    Carrier* root = context->root;
    const auto end = roots.begin() + static_cast<ptrdiff_t>(count);
    if (root != nullptr && std::find(roots.begin(), end, root) == end) roots[count++] = root;
    return count == roots.size();
  });
  for (size_t i = 0; i < count; ++i) call(roots[i]);
}

// Whether others are to begin the context without a body that has been left to this worker. It had best begin under the
// worker's own identity, so the worker's thread gets some time to come; a worker that may not run does not come at all.
bool Stalls::is_late(Carrier& carrier, Seen& before) const noexcept {
  const bool waits = carrier.bodiless_ready.load(std::memory_order_relaxed) != nullptr;
  before.bodiless_ticks = waits ? before.bodiless_ticks + 1 : 0;
  const bool late = before.bodiless_ticks > (pool_.allowed(&carrier) ? kTicksForItsWorker : 0);
  put(carrier.late, late);
  return late;
}

bool Stalls::root_stalled(Carrier& carrier, Seen& before) noexcept {
  const Context* root = carrier.root_ready.load(std::memory_order_relaxed);
  const uint64_t switches = carrier.statistics.switches.get();
  const bool stalled = root != nullptr && root == before.root_waited && switches == before.root_switches;
  before.root_waited = root;
  before.root_switches = switches;
  const ParallelCall* parallel_call = stalled ? root->parallel_call.load(std::memory_order_relaxed) : nullptr;
  if (stalled) note_target(parallel_call, &carrier);
  const bool patience_over = stalled && quiet_ns(&carrier) >= records_.patience_ns(nullptr);
  // It is enough to have seen the thread asleep once: a carrier that comes for the root may have to wait for a slot
  // first, and a thread that polls and naps by turns is asleep at some ticks only.
  const bool seen_before = carrier.abandoned.load(std::memory_order_relaxed);
  put(carrier.abandoned, stalled && (seen_before || patience_over || asleep_in_kernel(carrier)));
  return stalled;
}

int Stalls::stalled_calls(Carrier& carrier, Seen& before) noexcept {
  int waiting = 0;
  const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenCalls);
  if (top > 0 && before.claims == nullptr) before.claims = new (std::nothrow) std::array<uint64_t, kOpenCalls>();
  if (before.claims == nullptr) return 0;
  // The innermost call first. Entries that were free at this tick and at the one before need no look.
  for (int k = std::max(top, std::exchange(before.open_calls, top)) - 1; k >= 0; --k) {
    const auto at = static_cast<size_t>(k);
    const ParallelCall* parallel_call = k < top ? carrier.open[k].load(std::memory_order_acquire) : nullptr;
    const uint64_t claim = parallel_call != nullptr && parallel_call->claimable()
                               ? parallel_call->claim.load(std::memory_order_relaxed)
                               : 0;
    if (claim != 0 && claim == (*before.claims)[at]) {
      waiting += parallel_call->unclaimed();
      note_target(parallel_call, parallel_call->root.load(std::memory_order_relaxed));
    }
    (*before.claims)[at] = claim;
  }
  return waiting;
}

void Stalls::tick() noexcept {
  move_clock();
  const int64_t now = platform::now_ns();
  real_ns_ += std::min(now - std::exchange(tick_before_ns_, now), kLongestTickNs);
  see_activity();
  if (probe_.function != nullptr) look_at_probe();
  if (loan_.watched) judge_loan();
  if (const void* function = records_.review(now)) g_gang_regions.remove(function);
  const int waiting = count_stalled();
  see_region();
  if (waiting > 0) {
    if (stalled_ticks_++ == 0) {
      stalled_at_real_ns_ = real_ns_;
      note_loan();
    }
    calm_ticks_ = 0;
    lend(waiting);
    return;
  }
  stalled_ticks_ = 0;
  asleep_ticks_ = 0;
  surplus_ticks_ = 0;
  starving_patience_ns_ = kStarvingNs;
  if (++calm_ticks_ < kTicksToKeepLent) return;
  pool_.lent.store(0, std::memory_order_relaxed);
  lent_for_sleepers_ = 0;
  loan_.watched = false;
}

}  // namespace weft::core
