// SPDX-License-Identifier: Apache-2.0
#include "core/budget/node_budget.h"

#include <algorithm>

#include <signal.h>

#include "base/message.h"
#include "core/sched/idling.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "node/process.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

// Somebody who is awake answers within microseconds; who waits for a slot may as well wait so long on his feet.
constexpr int64_t kDoorNs = 50'000;
// Who has had to wait so long takes a slot away.
constexpr int64_t kPatienceNs = 4'000'000;
constexpr int kTicksBetweenSearches = 4;     // for processes that have been killed, while slots are short
constexpr int kTicksBetweenLongSearches = 200;
constexpr int64_t kLeaveNs = 100'000'000;
constexpr int64_t kBetweenTriesNs = 100'000;
// A root that has waited so long for the process's turn runs without: there are very many processes, or words in the
// segment are wrong.
constexpr int64_t kMostTurnNs = 1'000'000'000;

bool asleep(const Carrier& carrier) noexcept { return carrier.wake.load(std::memory_order_relaxed) == Wake::sleeping; }

bool root_lacks_slot(const Carrier& carrier) noexcept {
  return carrier.is_root() && carrier.holds_slot.load(std::memory_order_relaxed) &&
         carrier.slot.load(std::memory_order_relaxed) == Slot::none && !asleep(carrier);
}

// It runs without: what it had was taken away while it ran, or it has been lent.
bool worker_lacks_slot(const Pool& p, const Carrier& carrier) noexcept {
  const int slot = carrier.slot.load(std::memory_order_relaxed);
  return !carrier.is_root() && (slot == Slot::taken || slot == Slot::permit) && !p.is_idle(&carrier) &&
         !asleep(carrier);
}

bool worker_could_use(const Pool& p, const Carrier& carrier) noexcept {
  return !carrier.is_root() && carrier.worker < p.worker_limit() &&
         carrier.slot.load(std::memory_order_relaxed) == Slot::none && p.is_idle(&carrier);
}

int lent_threads(const Pool& p) noexcept {
  return p.lent.load(std::memory_order_relaxed) + p.lent_to_gangs.load(std::memory_order_relaxed);
}

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
  // Release: with the process comes what it has set up.
  process_.store(process, std::memory_order_release);
}

void NodeBudget::look(Pool& p) noexcept {
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

void NodeBudget::set_others_turn(bool others_turn) noexcept {
  const bool before = (g_turnstile.load(std::memory_order_relaxed) & Turnstile::others_turn) != 0;
  if (before == others_turn) return;
  if (others_turn) {
    g_turnstile.fetch_or(Turnstile::others_turn);
  } else {
    g_turnstile.fetch_and(~uint32_t{Turnstile::others_turn});
    platform::futex_wake(g_turnstile, kMaxCarriers);
  }
}

void NodeBudget::await_turn(Pool& p, Carrier* root) noexcept {
  node::Process* const process = current();
  if (process == nullptr) return;
  release_slot(root);
  waiting_roots_.fetch_add(1, std::memory_order_relaxed);
  // What is known may be old: a process that misses nothing is due nothing.
  process->want(std::max(1, count_missing(p, *process)));
  look(p);
  wake_monitor();
  const int64_t until = platform::now_ns() + kMostTurnNs;
  for (;;) {
    const uint32_t entry = g_turnstile.load(std::memory_order_relaxed);
    const int64_t left = until - platform::now_ns();
    if ((entry & Turnstile::others_turn) == 0 || left <= 0 || left > kMostTurnNs) break;
    platform::futex_wait_for(g_turnstile, entry, left);
  }
  await_slot(*process, root);
  waiting_roots_.fetch_sub(1, std::memory_order_relaxed);
}

// Whose turn it was before gives its slot when its processes come to an end; until then somebody else is on that CPU.
void NodeBudget::await_slot(node::Process& process, Carrier* root) noexcept {
  const int64_t until = platform::now_ns() + kPatienceNs;
  for (;;) {
    const int slot = process.take();
    if (slot >= 0) {
      root->slot.store(slot);
      return;
    }
    const int64_t left = until - platform::now_ns();
    if (left <= 0 || left > kPatienceNs) return;
    platform::futex_wait_for(g_turnstile, g_turnstile.load(std::memory_order_relaxed), std::min(left, kBetweenTriesNs));
  }
}

uint64_t NodeBudget::draw_ticket() const noexcept {
  node::Process* const process = current();
  return process != nullptr ? process->queue().draw() : 0;
}

bool NodeBudget::enter_queue(uint64_t ticket, int calls, bool anyway) const noexcept {
  node::Process* const process = current();
  return process == nullptr || process->lost() || process->queue().enter(ticket, calls, anyway);
}

void NodeBudget::leave_queue(int calls) const noexcept {
  node::Process* const process = current();
  if (process != nullptr && !process->lost()) process->queue().leave(calls);
}

bool NodeBudget::others_sleep(int64_t& cpu_time) const noexcept {
  node::Process* const process = current();
  return process == nullptr || process->lost() || process->queue().others_sleep(cpu_time);
}

bool NodeBudget::admitted(const Pool& p, const Carrier* carrier) const noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr || carrier->is_root()) return true;
  const int lent = lent_threads(p);
  switch (const int slot = carrier->slot.load(std::memory_order_relaxed); slot) {
    case Slot::taken: return false;
    case Slot::permit: return unslotted_.load(std::memory_order_relaxed) <= lent;
    case Slot::none:
      return (p.gate.load(std::memory_order_relaxed) & Gate::closed) == 0 ||
             unslotted_.load(std::memory_order_relaxed) < lent;
    default: return !process->over();
  }
}

bool NodeBudget::take_permit(const Pool& p) noexcept {
  const int lent = lent_threads(p);
  if (lent == 0) return false;
  if (unslotted_.fetch_add(1, std::memory_order_relaxed) < lent) return true;
  unslotted_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool NodeBudget::take_slot(Pool& p, Carrier* carrier) noexcept {
  node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr) return true;
  int has = carrier->slot.load(std::memory_order_relaxed);
  if (has == Slot::permit || has >= 0) return true;
  if (has == Slot::taken) carrier->slot.compare_exchange_strong(has, Slot::none);
  int slot = process->take();
  if (carrier->is_root()) {
    if (slot < 0) return true;
  } else {
    if (slot < 0 && take_permit(p)) slot = Slot::permit;
    if (slot == -1) slot = wait_at_door(p, *process);
    if (slot == -1) {
      p.gate.fetch_or(Gate::closed);
      // It may be asleep: work can come from outside of regions.
      wake_monitor();
      return false;
    }
  }
  int none = Slot::none;
  // The monitor may have passed one on meanwhile.
  if (!carrier->slot.compare_exchange_strong(none, slot)) {
    if (slot >= 0) {
      process->give(slot);
    } else {
      unslotted_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  return true;
}

int NodeBudget::count_missing(const Pool& p, const node::Process& process) const noexcept {
  int running = waiting_roots_.load(std::memory_order_relaxed);
  // Who is at the door is awake, and has nothing yet.
  running += at_door_.load(std::memory_order_relaxed) ? 1 : 0;
  int workers = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p.carrier(i);
    running += root_lacks_slot(carrier) || worker_lacks_slot(p, carrier) ? 1 : 0;
    workers += worker_could_use(p, carrier) ? 1 : 0;
  }
  const int wanted = running + (workers > 0 ? std::min(workers, pending_work(p)) : 0);
  return std::clamp(process.most() - process.held(), 0, wanted);
}

// Gives a slot to a carrier of the process that can use it: those that run anyway come first, roots before workers.
bool NodeBudget::pass_on(Pool& p, int slot) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *p.carrier(i);
    int none = Slot::none;
    if (root_lacks_slot(carrier) && carrier.slot.compare_exchange_strong(none, slot)) return true;
  }
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *p.carrier(i);
    int before = carrier.slot.load(std::memory_order_relaxed);
    if (!worker_lacks_slot(p, carrier) || before >= 0 || !carrier.slot.compare_exchange_strong(before, slot)) continue;
    if (before == Slot::permit) unslotted_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *p.carrier(i);
    int none = Slot::none;
    if (!worker_could_use(p, carrier) || !carrier.slot.compare_exchange_strong(none, slot)) continue;
    call_to_work(&carrier);
    return true;
  }
  return false;
}

// Gives a worker's slot to a root that runs without: a root goes on anyway, a worker stops. So the process uses no more
// CPUs than it is due.
void NodeBudget::favor(Pool& p, node::Process& process, Carrier* root) noexcept {
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    Carrier* worker = p.worker(i);
    int slot = worker->slot.load(std::memory_order_relaxed);
    if (slot < 0 || !worker->slot.compare_exchange_strong(slot, Slot::taken)) continue;
    p.gate.fetch_or(Gate::taken);
    int none = Slot::none;
    if (!root->slot.compare_exchange_strong(none, slot)) process.give(slot);
    return;
  }
}

// One worker at a time asks the others for a slot and waits a moment for the answer; after that the monitor does.
int NodeBudget::wait_at_door(Pool& p, node::Process& process) noexcept {
  // Acquire and release: one at a time.
  if (process.held() >= process.most() || at_door_.exchange(true, std::memory_order_acquire)) return -1;
  process.want(std::max(1, count_missing(p, process)));
  const int64_t deadline = platform::now_ns() + kDoorNs;
  int slot = process.take();
  while (slot < 0 && process.held() < process.due() && platform::now_ns() < deadline) {
    platform::pause();
    slot = process.take();
  }
  if (slot >= 0) {
    process.count_received();
    process.want(std::max(0, process.missing() - 1));
  }
  at_door_.store(false, std::memory_order_release);
  return slot;
}

void NodeBudget::drop_slot(Carrier* carrier) noexcept {
  const int slot = carrier->slot.exchange(Slot::none);
  node::Process* process = process_.load(std::memory_order_acquire);
  if (slot == Slot::permit) {
    unslotted_.fetch_sub(1, std::memory_order_relaxed);
  } else if (slot >= 0 && process != nullptr) {
    process->give(slot);
  }
}

int NodeBudget::usable(int slots) const noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  return process != nullptr && process->pressed() ? std::clamp(process->due(), 1, slots) : slots;
}

bool NodeBudget::has_too_many() const noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  return process != nullptr && process->over();
}

void NodeBudget::root_begins(Carrier* root) noexcept {
  node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr) return;
  take_slot(pool(), root);
  if (root->slot.load(std::memory_order_relaxed) != Slot::none) return;
  if (process->pressed()) favor(pool(), *process, root);
  // The monitor asks for one.
  if (root->slot.load(std::memory_order_relaxed) == Slot::none) process->ring();
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
  reclaim(p, *process);
  uint64_t regions = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) regions += p.carrier(i)->regions_seen.load(std::memory_order_relaxed);
  process->count_regions(regions);
  const int64_t now = platform::now_ns();
  ++ticks_;
  if (starving_since_ != 0) {
    // Whichever way the clock has jumped.
    process->count_waited(std::clamp<int64_t>(now - last_tick_, 0, std::max<int64_t>(now - starving_since_, 0)));
  }
  const bool pending = admissions_pending();
  process->tick();
  if ((pending || process->missing() > 0) && ticks_ % kTicksBetweenSearches == 0) {
    process->remove_dead(ticks_ % kTicksBetweenLongSearches == 0 ? node::Check::processes : node::Check::marks);
    if (pending) retry_admissions();
  }
  last_tick_ = now;
  serve(p, *process, starving_since_ != 0 && now - starving_since_ >= kPatienceNs);
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
