// SPDX-License-Identifier: Apache-2.0
// What the monitor lends: OS threads in place of those that sleep in a system call, and others late, without evidence.
#include <algorithm>

#include "base/message.h"
#include "core/monitor/root_watch.h"
#include "core/monitor/stalls.h"
#include "core/sched/pool.h"
#include "core/sched/upcalls.h"
#include "core/sched/waking.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

// Somebody sits in the kernel, and nothing is lent yet.
constexpr int kTicksAsleep = 2;

// Where a probe shows nothing, since it takes more threads than one or what waits is no region's, and nothing has moved
// for so long, threads are lent without evidence; more of them sooner, above all in a program that has been seen to
// wait.
constexpr int64_t kPatienceNs = 200'000'000;
constexpr int64_t kPatienceOnceLentNs = 50'000'000;
constexpr int64_t kPatienceWithWaitersNs = 10'000'000;
// The next of them after this part of the time for which nothing has moved: members that compute end meanwhile.
constexpr int kPartOfQuiet = 3;
// A region that has been seen to compute has so many times the patience of its probes.
constexpr int kPatiencesOfProbes = 20;
constexpr int64_t kMostPatienceNs = 16 * kPatienceNs;

// Work that nobody takes although others get on is lent more threads ever more rarely.
constexpr int64_t kMostStarvingNs = 16'000'000'000;

// Where the system refuses threads the user waits to be told whether those that are left are enough. So real time
// counts there too, once nothing has moved for a while of CPU time.
constexpr int64_t kRealPatienceNs = 250'000'000;
constexpr int64_t kLeastStillNs = 25'000'000;

}  // namespace

bool Stalls::counts(const Carrier& carrier) const noexcept {
  return carrier.is_root() ? carrier.holds_slot.load(std::memory_order_relaxed)
                           : pool_.allowed(&carrier) && carrier.worker < pool_.free_limit();
}

// Those that come when they are called: not the ones that would find no slot of the node.
int Stalls::idle_workers() const noexcept {
  const int count = pool_.worker_count.load(std::memory_order_acquire);
  int ready = 0;
  int without_slot = 0;
  for (int i = 0; i < count; ++i) {
    const Carrier& worker = *pool_.worker(i);
    if (!counts(worker) || !pool_.is_idle(&worker)) continue;
    ++(pool_.node.lacks_slot(worker) ? without_slot : ready);
  }
  return ready + pool_.node.obtainable(without_slot);
}

// What the carriers are at that are not idle: asleep in a system call, or running. The system is asked about those that
// have done nothing since the last tick, and about `kMostAsked` of them per tick: to ask about 192 takes 1.5 ms.
Stalls::Crowd Stalls::look_at_carriers() noexcept {
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  Crowd crowd;
  int asked = 0;
  int last = next_asked_;
  for (int i = 0; i < count; ++i) {
    const int index = (next_asked_ + i) % count;
    const Carrier& carrier = *pool_.carrier(index);
    if (!counts(carrier) || pool_.is_idle(&carrier)) continue;
    Seen& before = seen(index);
    if (!before.moved && asked < kMostAsked) {
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
  asleep_ = crowd.asleep;
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
  note_loan();
  pool_.compensations.fetch_add(static_cast<uint64_t>(wanted - lent), std::memory_order_relaxed);
}

// Those that wait decide how many can be of use.
void Stalls::lend_for_sleepers(const Crowd& crowd, int waiting) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  // One look may meet a thread that waits for a page or a lock of the allocator's.
  asleep_ticks_ = crowd.asleep > lent ? asleep_ticks_ + 1 : 0;
  if (asleep_ticks_ >= (lent > 0 ? 1 : kTicksAsleep)) raise_lent(std::min(crowd.asleep, lent + waiting));
}

// How long nothing must have moved, and nothing must have been lent.
int64_t Stalls::patience_without_evidence(int lent) const noexcept {
  if (lent > 0 && waiters_seen_) return kPatienceWithWaitersNs;
  if (loan_.watched) return std::max(kPatienceOnceLentNs, (time_ns_ - loan_.quiet_since_ns) / kPartOfQuiet);
  const int64_t patience = lent > 0 ? kPatienceOnceLentNs : kPatienceNs;
  if (!records_.has_computed(target_.function)) return patience;
  return std::clamp(kPatiencesOfProbes * records_.patience_ns(target_.function), patience, kMostPatienceNs);
}

void Stalls::lend_without_evidence(int waiting) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  const int64_t region_quiet_ns = target_.parallel_call != nullptr ? time_ns_ - candidate_since_ns_ : longest_quiet_ns_;
  const int64_t quiet_ns = std::min(longest_quiet_ns_, region_quiet_ns);
  const int64_t still_ns = std::min(quiet_ns, time_ns_ - lent_at_ns_);
  const int64_t patience_ns = patience_without_evidence(lent);
  if (still_ns > (waits_long() ? std::min(kLeastStillNs, patience_ns) : patience_ns)) {
    raise_lent(std::min(std::max(1, 2 * lent), lent + waiting));
    if (pool_.lent.load(std::memory_order_relaxed) > lent) watch_loan(quiet_ns);
  } else if (starving_ns_ > starving_patience_ns_) {
    starving_patience_ns_ = std::min(2 * starving_patience_ns_, kMostStarvingNs);
    raise_lent(lent + 1);
  }
}

// Whether it is time for a loan by real time; not for members that have been seen to compute.
bool Stalls::waits_long() const noexcept {
  return pool_.contexts.refused() && real_ns_ - lent_at_real_ns_ > kRealPatienceNs &&
         !records_.has_computed(target_.function);
}

void Stalls::watch_loan(int64_t quiet_ns) noexcept {
  if (!loan_.watched) loan_.quiet_since_ns = time_ns_ - quiet_ns;
  loan_.watched = true;
  loan_.function = target_.function;
  loan_.root = target_.root;
  loan_watch_.begin(time_ns_, time_ns_ - loan_.quiet_since_ns);
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    Seen& before = seen(i);
    // Those of the loan have not begun.
    before.ran_before_loan = !pool_.is_idle(&carrier) && counts(carrier);
    before.loan_activity = activity_of(carrier);
    before.loan_progress = progress_of(carrier);
  }
}

// Whether those that could have done the work have moved by themselves, long after the loan.
void Stalls::judge_loan() noexcept {
  Probe::Look now{.time_ns = time_ns_, .lent_idle = true};
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    const Seen& before = seen(i);
    if (carrier.is_root() && &carrier != loan_.root) continue;
    if (before.ran_before_loan) {
      now.others_moved |= activity_of(carrier) != before.loan_activity;
    } else if (!carrier.is_root()) {
      now.lent_progress += progress_of(carrier) - before.loan_progress;
      now.lent_idle &= pool_.is_idle(&carrier);
    }
  }
  const Probe::Verdict verdict = loan_watch_.look(now);
  if (verdict == Probe::Verdict::open) return;
  loan_.watched = false;
  if (verdict == Probe::Verdict::waits) return;
  if (loan_.function != nullptr) records_.computes(loan_.function);
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  pool_.lent.store(std::min(lent, asleep_), std::memory_order_relaxed);
  // The next one only after a new patience.
  workers_quiet_since_ns_ = time_ns_;
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

// From when on threads that have not got anything on have had their chance.
void Stalls::note_loan() noexcept {
  lent_at_cpu_ns_ = platform::cpu_time_ns();
  lent_at_real_ns_ = real_ns_;
}

// Ends the program where the system refuses the threads without which nothing goes on.
void Stalls::give_up_in_vain(const Crowd& crowd) const noexcept {
  if (!pool_.contexts.refused()) return;
  // Guests use CPU time of the process too; but they may as well be asleep.
  const int guests = pool_.guest_slots.load(std::memory_order_relaxed);
  const int running = std::min(crowd.running + std::min(crowd.running, guests), pool_.settings.slots);
  const Hopeless seen{.running = running,
                      .cpu_ns = (platform::cpu_time_ns() - lent_at_cpu_ns_) / std::max(1, running),
                      .quiet_ns = longest_quiet_ns_,
                      .real_ns = real_ns_ - stalled_at_real_ns_};
  if (!is_hopeless(seen)) return;
  base::lacking(
      "the system refuses the threads that the program needs to go on (see ulimit -u, -v); "
      "ask for fewer with OMP_NUM_THREADS");
}

}  // namespace weft::core
