// SPDX-License-Identifier: Apache-2.0
// The monitor's side of the node's budget: it joins and leaves the node, asks other processes for slots and passes on
// those that they give.
#include "core/sched/node_budget.h"

#include <algorithm>
#include <ctime>

#include <signal.h>

#include "base/message.h"
#include "core/budget/slot_need.h"
#include "core/sched/admission.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/watcher.h"
#include "core/sched/work_in_sight.h"
#include "node/process.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

// A process that has had to wait so long takes a slot away.
constexpr int64_t kPatienceNs = 4'000'000;
constexpr int kTicksBetweenAdmissions = 4;
constexpr int64_t kLeaveNs = 100'000'000;

node::Rule rule(Admission admission) noexcept {
  switch (admission) {
    case Admission::one: return node::Rule::one;
    case Admission::fitting: return node::Rule::fitting;
    default: return node::Rule::all;
  }
}

void unblock_sigbus() noexcept {
  // See node/guard.h: this thread is the one that touches the segment most.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace

void NodeBudget::join(const Settings& settings) noexcept {
  if (!wanted(settings)) return;
  unblock_sigbus();
  node::Reason reason;
  const node::Terms terms{.weight = settings.node.weight,
                          .most = settings.slots,
                          .rule = rule(settings.admission),
                          .mode = settings.node.mode,
                          .cpus = settings.node.cpus};
  node::Process* process = node::Process::join(node::default_path().text, terms, reason);
  if (process == nullptr) {
    base::warn("WEFT_NODE: %s; this process does not share its CPUs with others", reason.text);
    return;
  }
  look_for_neighbours(*process);
  // Release: with the process comes what it has set up.
  process_.store(process, std::memory_order_release);
}

// Written where it changes only: carriers read it at each call of a library.
void NodeBudget::look_for_neighbours(node::Process& process) noexcept {
  const bool there = process.has_neighbours();
  if (there != has_neighbours()) neighbours_.store(there, std::memory_order_relaxed);
}

void NodeBudget::look_at_others(Pool& p) noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr) return;
  const uint32_t bits =
      (process->pressed() ? uint32_t{Gate::pressed} : 0) | (process->over() ? uint32_t{Gate::over} : 0);
  constexpr uint32_t kOthers = Gate::pressed | Gate::over;
  uint32_t now = p.gate.load(std::memory_order_relaxed);
  while ((now & kOthers) != bits &&
         !p.gate.compare_exchange_weak(now, (now & ~kOthers) | bits, std::memory_order_relaxed)) {
  }
  set_others_turn(bits != 0 && process->due() == 0);
}

bool NodeBudget::others_press(Pool& p) noexcept {
  look_at_others(p);
  return p.gate.load(std::memory_order_relaxed) != 0;
}

int NodeBudget::usable(int slots) const noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  return process != nullptr && process->pressed() ? std::clamp(process->due(), 1, slots) : slots;
}

bool NodeBudget::has_too_many() const noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  return process != nullptr && process->over();
}

void NodeBudget::rest(Pool& p, int64_t ns) noexcept {
  int64_t now = platform::now_ns();
  const int64_t until = now + ns;
  for (; now < until; now = platform::now_ns()) {
    // Whatever the clock does, it is not slept longer.
    int64_t left = std::min(until - now, ns);
    const int64_t patience_left = starving_since_ + kPatienceNs - now;
    if (starving_since_ != 0 && patience_left > 0) left = std::min(left, patience_left);
    node::Process* process = process_.load(std::memory_order_relaxed);
    if (!process->wait(left)) return;
    if (leaving_.load(std::memory_order_relaxed)) return;
    serve(p, *process, false);
    if (admissions_pending()) retry_admissions();
  }
}

void NodeBudget::tick(Pool& p) noexcept {
  node::Process* process = process_.load(std::memory_order_relaxed);
  if (process == nullptr) return;
  if (process->lost()) {
    run_alone(p);
    process->resign();
    base::warn(
        "WEFT_NODE: the segment in /dev/shm was removed, cut off or overwritten; this process goes on without the "
        "others");
    return;
  }
  look_for_neighbours(*process);
  reclaim(p, *process);
  uint64_t regions = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) regions += p.carrier(i)->regions_seen.load(std::memory_order_relaxed);
  process->count_regions(regions);
  tell_pending();
  const int64_t now = platform::now_ns();
  ++ticks_;
  if (starving_since_ != 0) {
    // Whichever way the clock has jumped.
    process->count_waited(std::clamp<int64_t>(now - last_tick_, 0, std::max<int64_t>(now - starving_since_, 0)));
  }
  const bool pending = admissions_pending();
  process->tick();
  node::Check check{};
  if ((pending || process->missing() > 0) && process->search_is_due(check)) process->remove_dead(check);
  if (pending && ticks_ % kTicksBetweenAdmissions == 0) retry_admissions();
  last_tick_ = now;
  serve(p, *process, starving_since_ != 0 && now - starving_since_ >= kPatienceNs);
}

void NodeBudget::tell_pending() noexcept {
  node::Process* process = process_.load(std::memory_order_relaxed);
  if (process == nullptr) return;
  const PendingArrivals now = pending_arrivals();
  process->tell_pending(now.count, now.silent_ns);
}

bool NodeBudget::waiting(const Pool& p) const noexcept {
  const node::Process* process = process_.load(std::memory_order_relaxed);
  return process != nullptr && (process->missing() > 0 || (p.gate.load() & Gate::closed) != 0 || admissions_pending());
}

// Slots of carriers that sleep (they were passed on when the carrier had just lain down), and of those whose slot has
// been taken away.
void NodeBudget::reclaim(Pool& p, node::Process& process) noexcept {
  bool taken = false;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    Carrier* carrier = p.carrier(i);
    int slot = carrier->slot.load(std::memory_order_relaxed);
    if (slot >= 0 && asleep(*carrier)) {
      drop_slot(carrier);
    } else if (slot >= 0 && !process.owns(slot)) {
      const int now = carrier->is_root() ? Slot::none : Slot::taken;
      if (carrier->slot.compare_exchange_strong(slot, now)) process.give(slot);
      slot = now;
    }
    taken = taken || slot == Slot::taken;
  }
  if (taken) {
    p.gate.fetch_or(Gate::taken);
  } else {
    p.gate.fetch_and(~uint32_t{Gate::taken});
  }
}

void NodeBudget::serve(Pool& p, node::Process& process, bool may_take_away) noexcept {
  const bool waited = process.missing() > 0;
  if (process.pressed()) {
    const int count = p.carrier_count.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      if (root_lacks_slot(*p.carrier(i))) favor(p, process, p.carrier(i));
    }
  }
  int missing = count_missing(p, process);
  process.want(missing);
  // Roots that wait for their turn take their slots themselves.
  const int roots = std::min(missing, waiting_roots_.load(std::memory_order_relaxed));
  while (missing > roots) {
    int slot = process.take();
    if (slot < 0 && may_take_away) slot = process.take_away();
    if (slot < 0) break;
    if (!pass_on(p, slot)) {
      process.give(slot);
      missing = roots;
      break;
    }
    if (waited) process.count_received();
    --missing;
  }
  if (missing != process.missing()) process.want(missing);
  if (missing == 0 || process.held() >= process.due()) {
    starving_since_ = 0;
  } else if (starving_since_ == 0) {
    starving_since_ = platform::now_ns();
  }
  if (missing == 0 && (p.gate.load(std::memory_order_relaxed) & Gate::closed) != 0) {
    p.gate.fetch_and(~uint32_t{Gate::closed});
    platform::full_fence_after_update();
    // Work that came meanwhile has found nobody.
    if (pending_work(p) > 0) notify({});
  }
  look(p);
}

// The slots that carriers still name mean nothing any more.
void NodeBudget::run_alone(Pool& p) noexcept {
  process_.store(nullptr, std::memory_order_relaxed);
  neighbours_.store(false, std::memory_order_relaxed);
  p.gate.store(0);
  set_others_turn(false);
  if (admissions_pending()) retry_admissions();
  platform::full_fence_after_update();
  for (int i = pending_work(p); i > 0; --i) notify({});
}

bool NodeBudget::leave_if_asked(Pool& p) noexcept {
  node::Process* process = process_.load(std::memory_order_relaxed);
  if (process == nullptr || !leaving_.load(std::memory_order_relaxed)) return false;
  run_alone(p);
  process->leave();
  // Release, with the acquire of leave(): the segment is as it is to be when the process ends.
  left_.store(1, std::memory_order_release);
  platform::futex_wake_shared(left_, 1);
  return true;
}

void NodeBudget::leave() noexcept {
  node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr) return;
  leaving_.store(true, std::memory_order_relaxed);
  wake_monitor();
  process->ring();
  // If the monitor does not come in time, the others notice that the process has ended.
  // (Of the two kinds of futex the one that has a limit; its waker must use the same.)
  if (left_.load(std::memory_order_acquire) == 0) platform::futex_wait_shared(left_, 0, kLeaveNs);
}

}  // namespace weft::core
