// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/stalls.h"

#include <algorithm>
#include <new>

#include "base/message.h"
#include "core/monitor/root_watch.h"
#include "core/sched/gang_regions.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

constexpr int kTicksToKeepLent = 100;
// Somebody sits in the kernel, and nothing is lent yet.
constexpr int kTicksAsleep = 2;
constexpr int kTicksForItsWorker = 40;

// Where a probe shows nothing, since it takes more threads than one or what waits is no region's, and nothing has moved
// for so long, threads are lent without evidence; more of them sooner, above all in a program that has been seen to
// wait.
constexpr int64_t kPatienceNs = 200'000'000;
constexpr int64_t kPatienceOnceLentNs = 50'000'000;
constexpr int64_t kPatienceWithWaitersNs = 10'000'000;

// Work that nobody takes although others get on: they may be at what was there before, or wait for this by turns.
constexpr int64_t kStarvingNs = 1'000'000'000;
constexpr int64_t kMostStarvingNs = 16'000'000'000;

// Threads stay so long with a region that has been seen to wait, if it does not end before.
constexpr int64_t kKeptNs = 100'000'000;

// After so many ticks without a way on, when the system refuses threads, the program is told.
constexpr int kTicksToGiveUp = 1000;
// The same where carriers run: members that wait for others without a call. In CPU time of each, as far as there are
// slots.
constexpr int64_t kHopelessNs = 3'000'000'000;

uint64_t activity_of(const Carrier& carrier) noexcept {
  const Statistics& s = carrier.statistics;
  return s.switches.get() + s.calls.get() + s.claims.get() + s.ends.get() +
         carrier.regions_seen.load(std::memory_order_relaxed);
}

// What a lent thread has got done: beginning is not enough.
uint64_t progress_of(const Carrier& carrier) noexcept {
  return carrier.statistics.ends.get() + carrier.statistics.blocks.get();
}

bool runs(const Pool& p, const Carrier& carrier) noexcept {
  if (p.is_idle(&carrier)) return false;
  return carrier.is_root() ? carrier.holds_slot.load(std::memory_order_relaxed) : p.allowed(&carrier);
}

}  // namespace

Stalls::Seen& Stalls::seen(int index) noexcept {
  auto& mine = seen_[static_cast<size_t>(index)];
  if (mine == nullptr) mine = new (std::nothrow) Seen;
  static Seen spare;
  return mine != nullptr ? *mine : spare;
}

// ---- time, and who has moved ----

void Stalls::move_clock() noexcept {
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  int running = 0;
  for (int i = 0; i < count; ++i) running += runs(pool_, *pool_.carrier(i)) ? 1 : 0;
  // Guests use CPU time of the process too; but they may as well be asleep.
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
    before.activity = activity;
    (carrier.is_root() ? before.quiet_since_ns : workers_quiet_since_ns_) = time_ns_;
  }
}

// How long nobody has moved who could do the work of `group`.
int64_t Stalls::quiet_ns(const Carrier* group) noexcept {
  const int64_t own = group != nullptr ? seen(group->index).quiet_since_ns : 0;
  return time_ns_ - std::max(own, workers_quiet_since_ns_);
}

// ---- what waits ----

// Calls and contexts that have waited for a whole tick where nobody has taken anything.
int Stalls::count_stalled() noexcept {
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  int waiting = 0;
  target_ = {};
  starving_ns_ = 0;
  longest_quiet_ns_ = 0;
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *pool_.carrier(i);
    Seen& before = seen(i);
    const int stalled =
        stalled_calls(carrier, before) + stalled_contexts(carrier, before) + (root_stalled(carrier, before) ? 1 : 0);
    if (stalled == 0) before.touched_ns = time_ns_;
    starving_ns_ = std::max(starving_ns_, time_ns_ - before.touched_ns);
    waiting += stalled;
  }
  return waiting;
}

// The first is taken that has its patience behind it.
void Stalls::note_target(const ParallelCall* parallel_call, const Carrier* group) noexcept {
  const void* function = parallel_call != nullptr ? parallel_call->function.load(std::memory_order_relaxed) : nullptr;
  longest_quiet_ns_ = std::max(longest_quiet_ns_, quiet_ns(group));
  if (function == nullptr) return;
  // Whether the region's members get on is asked from half of it on.
  if (target_.parallel_call != nullptr || 2 * quiet_ns(group) < records_.patience_ns(function)) return;
  target_ = {const_cast<ParallelCall*>(parallel_call), function, group};
}

int Stalls::stalled_contexts(Carrier& carrier, Seen& before) noexcept {
  const bool late = is_late(carrier, before);
  const int ready = carrier.ready.size() + (late ? 1 : 0);
  const uint32_t taken = carrier.ready.taken();
  const bool stalled = ready > 0 && before.ready_waited && taken == before.ready_taken;
  before.ready_waited = ready > 0;
  before.ready_taken = taken;
  carrier.stuck.store(stalled, std::memory_order_relaxed);
  if (!stalled) return 0;
  Work work;
  const bool found = carrier.ready.has([&work](const Context* context) {
    work = {context->group, context->parallel_call.load(std::memory_order_relaxed)};
    return true;
  });
  // Its record stays, and nothing else begins under it while it waits.
  const Context* stub = late && !found ? carrier.bodiless_ready.load(std::memory_order_acquire) : nullptr;
  if (stub != nullptr)
    work = {carrier.bodiless_group.load(std::memory_order_relaxed),
            stub->parallel_call.load(std::memory_order_relaxed)};
  if (found || stub != nullptr) note_target(work.parallel_call, work.group);
  return ready;
}

// A worker has its own identity for what has been left to it, so its thread may take a while to come; one that may not
// run does not come at all.
bool Stalls::is_late(Carrier& carrier, Seen& before) const noexcept {
  const bool waits = carrier.bodiless_ready.load(std::memory_order_relaxed) != nullptr;
  before.bodiless_ticks = waits ? before.bodiless_ticks + 1 : 0;
  const bool late = before.bodiless_ticks > (pool_.allowed(&carrier) ? kTicksForItsWorker : 0);
  carrier.late.store(late, std::memory_order_relaxed);
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
  carrier.abandoned.store(stalled && (patience_over || asleep_in_kernel(carrier)), std::memory_order_relaxed);
  return stalled;
}

int Stalls::stalled_calls(Carrier& carrier, Seen& before) noexcept {
  int waiting = 0;
  const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenCalls);
  // The innermost first.
  for (int k = kOpenCalls - 1; k >= 0; --k) {
    const auto place = static_cast<size_t>(k);
    const ParallelCall* parallel_call = k < top ? carrier.open[place].load(std::memory_order_acquire) : nullptr;
    const uint64_t claim = parallel_call != nullptr && parallel_call->claimable()
                               ? parallel_call->claim.load(std::memory_order_relaxed)
                               : 0;
    if (claim != 0 && claim == before.claims[place]) {
      waiting += parallel_call->unclaimed();
      note_target(parallel_call, parallel_call->root.load(std::memory_order_relaxed));
    }
    before.claims[place] = claim;
  }
  return waiting;
}

// ---- lending ----

bool Stalls::counts(const Carrier& carrier) const noexcept {
  return carrier.is_root() ? carrier.holds_slot.load(std::memory_order_relaxed)
                           : pool_.allowed(&carrier) && carrier.worker < pool_.free_limit();
}

int Stalls::idle_workers() const noexcept {
  const int count = pool_.worker_count.load(std::memory_order_acquire);
  int idle = 0;
  for (int i = 0; i < count; ++i) {
    const Carrier& worker = *pool_.worker(i);
    idle += counts(worker) && pool_.is_idle(&worker) ? 1 : 0;
  }
  return idle;
}

// What the carriers are at that are not idle: asleep in a system call, or running. The system is asked about those that
// have done nothing since the last tick, and about so many of them at a tick: to ask about 192 takes 1.5 ms.
Stalls::Crowd Stalls::look_at_carriers() noexcept {
  constexpr int kAsked = 32;
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  Crowd crowd;
  int asked = 0;
  int last = next_asked_;
  for (int i = 0; i < count; ++i) {
    const int index = (next_asked_ + i) % count;
    const Carrier& carrier = *pool_.carrier(index);
    if (!counts(carrier) || pool_.is_idle(&carrier)) continue;
    Seen& before = seen(index);
    if (!before.moved && asked < kAsked) {
      before.asleep = asleep_in_kernel(carrier);
      ++asked;
      last = index + 1;
    }
    if (!before.asleep) {
      ++crowd.running;
    } else {
      // Between regions it is RootWatch that decides whether its slot is to be had.
      crowd.asleep += carrier.is_root() && carrier.regions_open.load(std::memory_order_relaxed) == 0 ? 0 : 1;
    }
  }
  next_asked_ = last;
  return crowd;
}

void Stalls::raise_lent(int wanted) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  if (wanted <= lent) return;
  pool_.lent.store(wanted, std::memory_order_relaxed);
  const int limit = std::min(pool_.worker_limit(), kMaxWorkers);
  grow_workers(limit);
  // What the system refuses is not lent: patience does not begin anew with it.
  const int refused = limit - pool_.worker_count.load(std::memory_order_relaxed);
  if (refused > 0) pool_.lent.store(wanted = std::max(lent, wanted - refused), std::memory_order_relaxed);
  if (wanted == lent) return;
  lent_at_ns_ = time_ns_;
  stalled_since_ns_ = platform::cpu_time_ns();
  pool_.compensations.fetch_add(static_cast<uint64_t>(wanted - lent), std::memory_order_relaxed);
}

// Those that wait decide how many can be of use.
void Stalls::lend_for_sleepers(const Crowd& crowd, int waiting) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  // One look may meet a thread that waits for a page or a lock of the allocator's.
  asleep_ticks_ = crowd.asleep > lent ? asleep_ticks_ + 1 : 0;
  if (asleep_ticks_ >= (lent > 0 ? 1 : kTicksAsleep)) raise_lent(std::min(crowd.asleep, lent + waiting));
}

void Stalls::lend_without_evidence(int waiting) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  const int64_t region_quiet_ns = target_.parallel_call != nullptr ? time_ns_ - candidate_since_ns_ : longest_quiet_ns_;
  const int64_t quiet_ns = std::min({longest_quiet_ns_, region_quiet_ns, time_ns_ - lent_at_ns_});
  const int64_t once_lent = waiters_seen_ ? kPatienceWithWaitersNs : kPatienceOnceLentNs;
  if (quiet_ns > (lent > 0 ? once_lent : kPatienceNs)) {
    raise_lent(std::min(std::max(1, 2 * lent), lent + waiting));
  } else if (starving_ns_ > starving_patience_ns_) {
    starving_patience_ns_ = std::min(2 * starving_patience_ns_, kMostStarvingNs);
    raise_lent(lent + 1);
  }
}

void Stalls::lend(int waiting) noexcept {
  // An idle worker that is allowed will come for them anyway.
  const bool somebody_comes = idle_workers() > 0;
  const Crowd crowd = somebody_comes ? Crowd() : look_at_carriers();
  if (!somebody_comes) {
    lend_for_sleepers(crowd, waiting);
    lend_without_evidence(waiting);
    if (probe_.function == nullptr && crowd.asleep == 0) begin_probe();
  }
  // Idle workers may have become allowed; they look for work of any root.
  for (int i = 0; i < std::min(waiting, pool_.worker_limit()); ++i) notify({});
  if (!somebody_comes) give_up_in_vain(crowd);
}

// Ends the program where the system refuses the threads without which nothing goes on.
void Stalls::give_up_in_vain(const Crowd& crowd) const noexcept {
  if (!pool_.contexts.refused()) return;
  // Guests use CPU time of the process too; but they may as well be asleep.
  const int guests = pool_.guest_slots.load(std::memory_order_relaxed);
  const int running = std::min(crowd.running + std::min(crowd.running, guests), pool_.settings.slots);
  const bool in_vain = running == 0 ? stalled_ticks_ > kTicksToGiveUp
                                    : platform::cpu_time_ns() - stalled_since_ns_ > kHopelessNs * running;
  if (!in_vain) return;
  base::lacking(
      "the system refuses the threads that the program needs to go on (see ulimit -u, -v); "
      "ask for fewer with OMP_NUM_THREADS");
}

void Stalls::tick() noexcept {
  move_clock();
  see_activity();
  if (probe_.function != nullptr) look_at_probe();
  if (const void* function = records_.review(platform::now_ns())) g_gang_regions.remove(function);
  const int waiting = count_stalled();
  see_region();
  if (waiting > 0) {
    if (stalled_ticks_++ == 0) stalled_since_ns_ = platform::cpu_time_ns();
    calm_ticks_ = 0;
    lend(waiting);
    return;
  }
  stalled_ticks_ = 0;
  asleep_ticks_ = 0;
  starving_patience_ns_ = kStarvingNs;
  if (++calm_ticks_ >= kTicksToKeepLent) pool_.lent.store(0, std::memory_order_relaxed);
}

// ---- probes ----

// Whether a thread is still at what it was lent for, although the loan has ended.
bool Stalls::threads_are_out() const noexcept {
  const int count = pool_.worker_count.load(std::memory_order_acquire);
  for (int i = std::min(count, pool_.worker_limit()); i < count; ++i) {
    if (!pool_.is_idle(pool_.worker(i))) return true;
  }
  return false;
}

// Whether the members of the region get on: they may be at a loop's chunks or at tasks, which carriers do not count.
void Stalls::see_region() noexcept {
  if (target_.parallel_call == nullptr) return;
  const auto progress_of_region = pool_.settings.progress;
  const uint64_t progress = progress_of_region != nullptr ? progress_of_region(*target_.parallel_call) : 0;
  const bool same = target_.parallel_call == candidate_.parallel_call && target_.function == candidate_.function;
  candidate_ = target_;
  if (same && progress == candidate_progress_) return;
  candidate_progress_ = progress;
  candidate_since_ns_ = time_ns_;
}

void Stalls::begin_probe() noexcept {
  if (target_.parallel_call == nullptr || threads_are_out()) return;
  const int64_t patience = records_.patience_ns(target_.function);
  if (quiet_ns(target_.group) < patience || 2 * (time_ns_ - candidate_since_ns_) < patience) return;
  candidate_ = {};
  probe_ = {.parallel_call = target_.parallel_call, .function = target_.function, .group = target_.group};
  watch_.begin(time_ns_, patience);
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    Seen& before = seen(i);
    before.ran_before_probe = runs(pool_, carrier);
    before.probe_activity = activity_of(carrier);
    before.probe_progress = progress_of(carrier);
  }
  probe_.parallel_call->gang.store(true, std::memory_order_relaxed);
  lend_to_probe(1);
}

void Stalls::lend_to_probe(int threads) noexcept {
  const int known = pool_.carrier_count.load(std::memory_order_acquire);
  const int lent = lend_region_threads(threads);
  pool_.compensations.fetch_add(static_cast<uint64_t>(lent), std::memory_order_relaxed);
  probe_.lent += lent;
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = known; i < count; ++i) seen(i).ran_before_probe = false;
  for (int i = 0; i < lent; ++i) notify({probe_.group, probe_.parallel_call});
}

void Stalls::end_probe() noexcept {
  return_region_threads(probe_.lent);
  const bool same = probe_.parallel_call->function.load(std::memory_order_relaxed) == probe_.function;
  if (same && !g_gang_regions.has(probe_.function)) probe_.parallel_call->gang.store(false, std::memory_order_relaxed);
  probe_ = {};
  // A new one only after a new patience.
  workers_quiet_since_ns_ = time_ns_;
}

void Stalls::look() noexcept {
  move_clock();
  look_at_probe();
}

void Stalls::look_at_probe() noexcept {
  if (probe_.kept) {
    // The next region of the same record begins without.
    const bool same = probe_.parallel_call->function.load(std::memory_order_relaxed) == probe_.function &&
                      probe_.parallel_call->gang.load(std::memory_order_relaxed);
    if (!same || time_ns_ > probe_.until_ns) end_probe();
    return;
  }
  Probe::Look now{.time_ns = time_ns_, .lent_idle = true};
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    const Seen& before = seen(i);
    if (before.ran_before_probe) {
      now.others_moved |= activity_of(carrier) != before.probe_activity;
    } else if (!carrier.is_root()) {
      now.lent_progress += progress_of(carrier) - before.probe_progress;
      now.lent_idle &= pool_.is_idle(&carrier);
    }
  }
  switch (watch_.look(now)) {
    case Probe::Verdict::open: return;
    case Probe::Verdict::computes:
      records_.computes(probe_.function);
      end_probe();
      return;
    case Probe::Verdict::waits:
      waiters_seen_ = true;
      records_.waits(probe_.function, platform::now_ns());
      if (records_.is_gang(probe_.function)) g_gang_regions.add(probe_.function);
      probe_.kept = true;
      probe_.until_ns = time_ns_ + kKeptNs;
      return;
  }
}

}  // namespace weft::core
