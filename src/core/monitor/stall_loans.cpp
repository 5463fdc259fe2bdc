// SPDX-License-Identifier: Apache-2.0
// What the monitor lends: OS threads in place of those that sleep in a system call; and, later, without such evidence,
// where nothing has moved for long.
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

// After so many ticks in which a carrier was asleep in the kernel the first thread is lent.
constexpr int kTicksAsleep = 2;

// Where as many carriers run as there are CPUs, one that sleeps for less, such as for a lock whose
// holder lacks a CPU, is nothing that a thread more would help.
constexpr int kLooksOfLongSleep = 10;

// Where CPUs are held back (core/budget/jobserver.h), a carrier that sleeps for less counts as one that runs: when it
// runs again, there is a thread more than make has been told.
constexpr int kLooksOfSleepWithoutToken = 40;

// They are taken back after so many in which more carriers have run than there are CPUs.
constexpr int kTicksOfSurplus = 20;

// Where nothing has moved for so long, threads are lent without evidence: a probe shows nothing where more than one
// thread is needed, and none is made for work of no region. Further threads follow sooner, above all in a program whose
// members have been seen to wait.
constexpr int64_t kPatienceNs = 200'000'000;
constexpr int64_t kPatienceOnceLentNs = 50'000'000;
constexpr int64_t kPatienceWithWaitersNs = 10'000'000;
// The next loan follows after this part of the time for which nothing has moved: members that compute end meanwhile.
constexpr int kPartOfQuiet = 3;
// A region that has been seen to compute gets threads without evidence only after so many times the patience of its
// probes.
constexpr int kPatiencesOfProbes = 20;
constexpr int64_t kMostPatienceNs = 16 * kPatienceNs;

// For work that nobody takes, although other work gets on, further threads are lent ever more rarely.
constexpr int64_t kMostStarvingNs = 16'000'000'000;

// So many times as patient is a process whose CPUs are held back (core/budget/jobserver.h), as long as its members have
// not been seen to wait: work waits there as a rule, and a thread more breaks make's promise.
constexpr int kPatiencesWithoutToken = 100;
constexpr int kPatiencesWithoutTokenAndEvidence = 10;

// Where the system refuses threads, the program may be hopeless, and the user is to learn it soon. So there real time
// counts too, once nothing has moved for a while of CPU time.
constexpr int64_t kRealPatienceNs = 250'000'000;
constexpr int64_t kLeastStillNs = 25'000'000;

}  // namespace

bool Stalls::counts(const Carrier& carrier) const noexcept {
  return carrier.is_root() ? carrier.holds_slot.load(std::memory_order_relaxed)
                           : pool_.allowed(&carrier) && carrier.worker < pool_.free_limit();
}

// How many idle workers come when they are called; those that would find no slot of the node do not.
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

// Counts the carriers that are not idle: those asleep in a system call, and those that run. The system is asked about
// carriers that have done nothing since the last tick, `kMostAsked` per tick: to ask about 192 takes 1.5 ms.
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
      before.looks_asleep = before.asleep ? before.looks_asleep + 1 : 0;
      ++asked;
      last = index + 1;
    }
    if (!before.asleep || (lacks_tokens() && before.looks_asleep < kLooksOfSleepWithoutToken)) {
      ++crowd.running;
      continue;
    }
    // A root that is asleep between regions does not count: RootWatch decides what becomes of its slot.
    if (carrier.is_root() && carrier.regions_open.load(std::memory_order_relaxed) == 0) continue;
    ++crowd.asleep;
    if (before.looks_asleep >= kLooksOfLongSleep) ++crowd.long_asleep;
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
  // A thread that the system refuses is not lent: the patience does not begin anew with it.
  const int refused = limit - pool_.worker_count.load(std::memory_order_relaxed);
  if (refused > 0) pool_.lent.store(wanted = std::max(lent, wanted - refused), std::memory_order_relaxed);
  if (wanted == lent) return;
  lent_at_ns_ = time_ns_;
  note_loan();
  pool_.compensations.fetch_add(static_cast<uint64_t>(wanted - lent), std::memory_order_relaxed);
}

// Lends a thread for each carrier that is asleep in the kernel, as long as there is work that waits, and as long as
// fewer run than there are CPUs: there may be more roots.
void Stalls::lend_for_sleepers(const Crowd& crowd, int waiting) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  // Those that run may be other roots, which do no work of this one: for a long sleep one thread is lent in any case.
  const int in_any_case = lent == 0 && crowd.long_asleep > 0 ? 1 : 0;
  const int without_thread = std::max(in_any_case, cpus() - crowd.running);
  const int wanted = std::min(crowd.asleep, lent + std::min(waiting, without_thread));
  // One look is not enough for the first loan: it may meet a thread that waits shortly, for a page or the allocator.
  asleep_ticks_ = wanted > lent ? asleep_ticks_ + 1 : 0;
  if (asleep_ticks_ >= (lent > 0 ? 1 : kTicksAsleep)) {
    raise_lent(wanted);
    lent_for_sleepers_ += pool_.lent.load(std::memory_order_relaxed) - lent;
  }
  take_back_from_sleepers(crowd);
}

// They run again. Work may wait all the same, and a thread too many is felt wherever members wait for each other: one
// of them lacks a CPU at any time.
void Stalls::take_back_from_sleepers(const Crowd& crowd) noexcept {
  const int lent = pool_.lent.load(std::memory_order_relaxed);
  lent_for_sleepers_ = std::min(lent_for_sleepers_, lent);
  const int surplus = std::min(lent_for_sleepers_ - crowd.long_asleep, crowd.running - cpus());
  surplus_ticks_ = surplus > 0 ? surplus_ticks_ + 1 : 0;
  if (surplus_ticks_ < kTicksOfSurplus) return;
  surplus_ticks_ = 0;
  lent_for_sleepers_ -= surplus;
  pool_.lent.store(lent - surplus, std::memory_order_relaxed);
}

// How many CPUs the process may use.
int Stalls::cpus() const noexcept { return pool_.settings.slots - pool_.held_back.load(std::memory_order_relaxed); }

bool Stalls::lacks_tokens() const noexcept { return pool_.held_back.load(std::memory_order_relaxed) > 0; }

// For how long nothing must have moved before the function's region gets a probe.
int64_t Stalls::patience_of(const void* function) const noexcept {
  const int64_t patience = records_.patience_ns(function);
  return lacks_tokens() && !records_.has_waited(function) ? kPatiencesWithoutToken * patience : patience;
}

// For how long nothing must have moved, and nothing must have been lent, before a loan without evidence.
int64_t Stalls::patience_without_evidence(int lent) const noexcept {
  if (lent > 0 && waiters_seen_) return kPatienceWithWaitersNs;
  const int times = lacks_tokens() && !waiters_seen_ ? kPatiencesWithoutTokenAndEvidence : 1;
  if (loan_.watched) return std::max(times * kPatienceOnceLentNs, (time_ns_ - loan_.quiet_since_ns) / kPartOfQuiet);
  const int64_t patience = times * (lent > 0 ? kPatienceOnceLentNs : kPatienceNs);
  if (!records_.has_computed(target_.function)) return patience;
  return std::clamp(kPatiencesOfProbes * patience_of(target_.function), patience, times * kMostPatienceNs);
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
  } else if (starving_ns_ > starving_patience_ns_ * (lacks_tokens() ? kPatiencesWithoutToken : 1)) {
    starving_patience_ns_ = std::min(2 * starving_patience_ns_, kMostStarvingNs);
    raise_lent(lent + 1);
  }
}

// Whether it is time for a loan by real time (kRealPatienceNs); never for members that have been seen to compute.
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
    // The threads of the loan have not begun yet, so they count among those that did not run before.
    before.ran_before_loan = !pool_.is_idle(&carrier) && counts(carrier);
    before.loan_activity = activity_of(carrier);
    before.loan_progress = progress_of(carrier);
  }
}

// Ends the watch of a loan when it is clear what the members do. Those that ran before and have moved by themselves,
// long before or after the lent threads got something done, were computing: what was lent is taken back.
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
  // The next loan comes only after a new patience.
  workers_quiet_since_ns_ = time_ns_;
}

void Stalls::lend(int waiting) noexcept {
  // An idle worker that is allowed comes for the work anyway.
  const bool somebody_comes = idle_workers() > 0;
  const Crowd crowd = somebody_comes ? Crowd() : look_at_carriers();
  if (!somebody_comes) {
    lend_for_sleepers(crowd, waiting);
    lend_without_evidence(waiting);
    if (probe_.function == nullptr && crowd.asleep == 0) begin_probe();
  }
  // Idle workers may have become allowed by a loan. They look for work of any root.
  for (int i = 0; i < std::min(waiting, pool_.worker_limit()); ++i) notify({});
  if (!somebody_comes) give_up_in_vain(crowd);
}

// From now on the time counts that give_up_in_vain() allows the threads to get something on.
void Stalls::note_loan() noexcept {
  lent_at_cpu_ns_ = platform::cpu_time_ns();
  lent_at_real_ns_ = real_ns_;
}

// Ends the program where the system refuses the threads without which nothing goes on.
void Stalls::give_up_in_vain(const Crowd& crowd) const noexcept {
  if (!pool_.contexts.refused()) return;
  // Guests use CPU time of the process too. But they may also be asleep, so they count for as many as run, at most.
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
