// SPDX-License-Identifier: Apache-2.0
// Contexts over carriers: choosing, leaving, waking.
#include "core/sched/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/sched/gang.h"
#include "core/sched/pool.h"
#include "core/sched/wait_queue.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

// ---- waking ----

namespace {

void wake_sleeper(Carrier* carrier) noexcept {
  // Relaxed: it comes by the kernel's wake-up, and a time of an earlier call only makes it seem late once.
  carrier->called_ns.store(platform::now_ns(), std::memory_order_relaxed);
  platform::futex_wake(carrier->wake, 1);
}

}  // namespace

void wake(Carrier* carrier) noexcept {
  if (carrier->wake.exchange(Wake::notified) == Wake::sleeping) wake_sleeper(carrier);
}

void note_wait(Carrier* carrier, int64_t now_ns, int64_t since_ns) noexcept {
  if (__builtin_expect(since_ns < Lateness::kLateNs, 1)) return;
  carrier->statistics.lates.add();
  carrier->lateness.note(now_ns);
  pool().lateness.note(now_ns);
}

void call(Carrier* carrier) noexcept {
  if (!pool().idle.remove(carrier->index)) {
    wake(carrier);
    return;
  }
  // Relaxed: a first guess for the exchange. A call for other work stays one.
  uint32_t seen = carrier->wake.load(std::memory_order_relaxed);
  do {
    if (seen == Wake::notified) return;
  } while (!carrier->wake.compare_exchange_weak(seen, Wake::own));
  if (seen == Wake::sleeping) wake_sleeper(carrier);
}

namespace {

Work work_of(const Context* context) noexcept {
  return {context->group, context->parallel_call.load(std::memory_order_relaxed)};
}

// Workers are made when there is work for them, as many as there are slots. Whether there are more now.
// Where the system refuses threads, whoever has work to give does not ask for more of them each time.
bool make_workers(const Pool& p, int calls) noexcept {
  const int there = p.worker_count.load(std::memory_order_relaxed);
  if (there >= p.settings.slots - 1 || p.contexts.refused()) return false;
  grow_workers(std::min(p.settings.slots - 1, there + calls));
  return true;
}

// Asked up to three times for each context that goes on.
[[gnu::always_inline]] inline bool may_serve(const Pool& p, const Carrier* carrier, Work work) noexcept {
  return carrier->is_root() ? carrier == work.group : p.allowed_for(carrier, work.parallel_call);
}

bool wake_idle(Pool& p, Work work) noexcept {
  const auto fits = [&p, work](int index) {
    const Carrier* carrier = p.carrier(index);
    return carrier != nullptr && may_serve(p, carrier, work);
  };
  const int index = p.idle.take(0, p.carrier_count.load(std::memory_order_acquire), fits);
  if (index < 0) return false;
  wake(p.carrier(index));
  return true;
}

void poke_waiting(Pool& p, Work work, int most) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count && most > 0; ++i) {
    Carrier* carrier = p.carrier(i);
    // One that has something of its own comes for that.
    if (!carrier->waiting.load(std::memory_order_relaxed) || !carrier->ready.empty()) continue;
    if (!may_serve(p, carrier, work)) continue;
    // One that others have poked comes for their work.
    if (carrier->poked.load(std::memory_order_relaxed) || carrier->poked.exchange(true)) continue;
    // With the fence of end_waiting(): it has seen the poke, or is seen not to wait any more.
    platform::full_fence_after_update();
    if (!carrier->waiting.load(std::memory_order_relaxed) && carrier->poked.exchange(false)) continue;
    --most;
  }
}

[[gnu::noinline]] void wake_some(Pool& p, Work work, int most) noexcept {
  const auto wake_idle_ones = [&] {
    while (most > 0 && wake_idle(p, work)) --most;
  };
  wake_idle_ones();
  if (most > 0 && make_workers(p, most)) wake_idle_ones();
  if (most > 0 && p.waiting_count.load(std::memory_order_relaxed) > 0) poke_waiting(p, work, most);
}

// Work for `most` carriers has been published, and a fence has followed. Mostly all are at work.
inline void notify_some(Pool& p, Work work, int most) noexcept {
  const bool anybody = !p.none_idle() || p.waiting_count.load(std::memory_order_relaxed) > 0 ||
                       p.worker_count.load(std::memory_order_relaxed) < p.settings.slots - 1;
  if (anybody && most > 0) wake_some(p, work, most);
}

}  // namespace

void notify(Work work) noexcept {
  platform::full_fence();
  notify_some(pool(), work, 1);
}

Carrier* carrier_for(const Context* context) noexcept {
  const Pool& p = pool();
  const Work work = work_of(context);
  Carrier* carrier = context->place;
  if (carrier == nullptr || !may_serve(p, carrier, work)) carrier = context->carrier;
  // Where nobody may run it, it would wait for somebody who has nothing else to do.
  if (!may_serve(p, carrier, work)) {
    Carrier* here = current_context()->carrier;
    if (here != nullptr && may_serve(p, here, work)) carrier = here;
  }
  return carrier;
}

namespace {

// For what has been put in the list of `carrier`, before a fence: it comes first, unless somebody has called it
// already, for other work. Whether it does.
bool call_its_own(Pool& p, Carrier* carrier, Work work) noexcept {
  if (!p.is_idle(carrier) || !may_serve(p, carrier, work) || !p.idle.remove(carrier->index)) return false;
  wake(carrier);
  return true;
}

// Contexts for the same work; they may be gone on as soon as they are in the list.
void push_ready(Pool& p, Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept {
  carrier->ready.push(first, last, count);
  platform::full_fence();
  notify_some(p, work, count - (call_its_own(p, carrier, work) ? 1 : 0));
}

void make_root_ready(Context* root) noexcept {
  Carrier* home = root->home;
  home->root_ready.store(root);
  call(home);
}

}  // namespace

void make_ready(Context* context) noexcept {
  if (context->home != nullptr) {
    make_root_ready(context);
    return;
  }
  Pool& p = pool();
  if (context->bodiless) {
    Carrier* worker = context->place;
    worker->bodiless_group.store(context->group, std::memory_order_relaxed);
    worker->bodiless_ready.store(context);
    call(worker);
    if (!may_serve(p, worker, work_of(context))) notify(work_of(context));
    return;
  }
  context->next = nullptr;
  push_ready(p, carrier_for(context), work_of(context), context, context, 1);
}

void make_all_ready(Context* chain) noexcept {
  Pool& p = pool();
  while (chain != nullptr) {
    Context* first = chain;
    chain = chain->next;
    if (first->home != nullptr) {
      make_root_ready(first);
      continue;
    }
    Carrier* carrier = carrier_for(first);
    const Work work = work_of(first);
    Context* last = first;
    int count = 1;
    while (chain != nullptr && chain->home == nullptr && chain->group == work.group &&
           chain->parallel_call.load(std::memory_order_relaxed) == work.parallel_call &&
           carrier_for(chain) == carrier) {
      last = chain;
      chain = chain->next;
      ++count;
    }
    last->next = nullptr;
    push_ready(p, carrier, work, first, last, count);
  }
}

bool ReadyTogether::add(Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept {
  if (!may_serve(pool(), carrier, work)) return false;
  if (size_ == kMost) call();
  carrier->ready.push(first, last, count);
  lists_[static_cast<size_t>(size_++)] = {carrier, work.group, work.parallel_call, count};
  return true;
}

void ReadyTogether::call() noexcept {
  if (size_ == 0) return;
  platform::full_fence();
  Pool& p = pool();
  // One look for others per kind of work: mostly there is one.
  int others = 0;
  for (int i = 0; i < size_; ++i) {
    const List& list = lists_[static_cast<size_t>(i)];
    const Work work{list.group, list.parallel_call};
    others += list.count - (call_its_own(p, list.carrier, work) ? 1 : 0);
    const bool last = i + 1 == size_ || lists_[static_cast<size_t>(i) + 1].group != work.group ||
                      lists_[static_cast<size_t>(i) + 1].parallel_call != work.parallel_call;
    if (last) notify_some(p, work, std::exchange(others, 0));
  }
  size_ = 0;
}

namespace {

// Read at every switch, written hardly ever. Acquire: with the function comes what it uses.
alignas(64) std::atomic<SwitchObserver> g_observer{nullptr};

void observe(const Context* self, bool leaving) noexcept {
  const SwitchObserver observer = g_observer.load(std::memory_order_acquire);
  if (__builtin_expect(observer != nullptr, 0)) observer(leaving, self->carrier->index);
}

// A root leaves its OS thread for the first time: from now on that one may run others, and others may run the root.
[[gnu::cold, gnu::noinline]] void leave_rseq_of(Context* root) noexcept {
  root->rseq = platform::leave_rseq() ? Rseq::none : Rseq::refused;
  platform::take_rseq_area(root->carrier->rseq_area);
}

void switch_counted(Context* self, Context* target, Departure departure) noexcept {
  Carrier* carrier = self->carrier;
  carrier->statistics.switches.add();
  if (__builtin_expect(self->rseq == Rseq::held, 0)) leave_rseq_of(self);
  if (target->cpus != nullptr) bind_carrier(carrier, target->cpus);
  self->departure = departure;
  observe(self, true);
  switch_between(self, target);
  observe(self, false);
  self->departure = Departure::none;
}

void leave_to(Context* self, Context* successor, Departure departure) noexcept {
  self->carrier->statistics.blocks.add();
  switch_counted(self, successor, departure);
}

void finish(ParallelCall* parallel_call) noexcept {
  if (parallel_call->pending.fetch_sub(1) != 1) return;
  platform::full_fence_after_update();
  if (Context* sleeper = parallel_call->sleeper.load(std::memory_order_acquire)) unblock(sleeper);
}

// Hands a member to a fresh context: two members of one team on one identity would share their
// threadprivate data. False when there is no other context.
bool hand_over(Context* self, ParallelCall* parallel_call, int index, Departure departure) noexcept {
  Context* fresh = take_free(self->carrier, parallel_call->serial);
  if (fresh == nullptr) return false;
  // No other is to be had: two members share an identity, which is better than to look for one for ever.
  if (fresh->last_parallel_call == parallel_call->serial) fresh->last_parallel_call = 0;
  fresh->claimed = parallel_call;
  fresh->claimed_index = index;
  switch_counted(self, fresh, departure);
  return true;
}

[[gnu::always_inline]] inline void run_here(Context* self, ParallelCall* parallel_call, int index) noexcept {
  Carrier* carrier = self->carrier;
  (parallel_call->publisher == carrier ? carrier->statistics.calls : carrier->statistics.claims).add();
  parallel_call->call(parallel_call, index);
  finish(parallel_call);
  self->carrier->statistics.ends.add();
}

}  // namespace

void run_claimed(Context* self, ParallelCall* parallel_call, int index) noexcept {
  while (index >= 0) {
    if (self->last_parallel_call == parallel_call->serial && hand_over(self, parallel_call, index, Departure::idle))
      return;
    self->last_parallel_call = parallel_call->serial;
    self->group = parallel_call->root.load(std::memory_order_relaxed);
    self->parallel_call.store(parallel_call, std::memory_order_relaxed);
    // One publication wakes one carrier; it wakes the next while there is work for it.
    if (parallel_call->claimable()) notify({self->group, parallel_call});
    run_here(self, parallel_call, index);
    // The next one from here rather than from the table: it may not stand there. The record may serve
    // another life by now; then this is a claim in that one.
    index = parallel_call->take();
  }
}

void take_part(ParallelCall* parallel_call, uint64_t* served) noexcept {
  Context* self = current_context();
  const int index = parallel_call->take();
  if (index < 0) return;
  // `self` is in the middle of something: it must go on, so it is ready meanwhile and not free.
  if (*served == parallel_call->serial && hand_over(self, parallel_call, index, Departure::yield)) return;
  *served = parallel_call->serial;
  Carrier* const group = std::exchange(self->group, parallel_call->root.load(std::memory_order_relaxed));
  if (parallel_call->claimable()) notify({self->group, parallel_call});
  run_here(self, parallel_call, index);
  self->group = group;
}

namespace {

bool work_in_sight(Carrier* carrier) noexcept;

// Before a carrier goes to work for `group`. `uncalled`: on what it alone can do, so that nobody else is called for it.
[[gnu::noinline]] void settle(Carrier* carrier, Work work, bool uncalled) noexcept {
  const Carrier::Call call = std::exchange(carrier->call, Carrier::Call::none);
  if (call == Carrier::Call::open && !uncalled) return;
  const Pool& p = pool();
  const bool anybody = !p.none_idle() || p.waiting_count.load(std::memory_order_relaxed) > 0;
  if (!anybody || !work_in_sight(carrier)) return;
  // What is in sight of a worker may be another root's, which this one would come for in vain.
  const Carrier* root = work.group;
  const bool sees = root != nullptr && root->is_listed() && work_in_sight(p.carrier(root->index));
  if (!carrier->is_root() && !sees) work.group = nullptr;
  notify({work.group, nullptr});
  // What is left may be more of the same, for which threads have been lent that do nothing else.
  if (p.is_oversubscribed()) notify(work);
}

[[gnu::always_inline]] inline void settle_call(Carrier* carrier, Work work, bool uncalled) noexcept {
  if (__builtin_expect(carrier->call != Carrier::Call::none, 0)) settle(carrier, work, uncalled);
}

// Being poked is being called. Who still sees the poke has published its work before what follows looks for some.
void take_poke(Carrier* carrier) noexcept {
  if (!carrier->poked.load(std::memory_order_relaxed)) return;
  carrier->poked.exchange(false);
  platform::full_fence_after_update();
  carrier->call = Carrier::Call::open;
}

// It has been called, and may not come any more: another one is, in its place.
void decline_call(Carrier* carrier) noexcept {
  if (std::exchange(carrier->call, Carrier::Call::none) == Carrier::Call::none) return;
  Pool& p = pool();
  // Workers that may work see the same: one that sees nothing speaks for the others.
  bool asked = false;
  const auto comes = [&](int index) {
    Carrier* other = p.carrier(index);
    if (other == nullptr || !p.allowed(other)) return false;
    if (!other->is_root() && asked) return false;
    const bool sees = work_in_sight(other);
    if (!other->is_root()) asked = !sees;
    return sees;
  };
  const int index = p.idle.take(0, p.carrier_count.load(std::memory_order_acquire), comes);
  if (index >= 0) wake(p.carrier(index));
}

// Whether `carrier` may do the work of `group`: a root helps itself only, so that it is never far away.
bool serves(const Carrier* carrier, const Carrier* group) noexcept { return !carrier->is_root() || carrier == group; }

bool claim_from(Context* self, Carrier* carrier, Carrier* victim, bool newest_first) noexcept {
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    ParallelCall* parallel_call = victim->open[newest_first ? top - 1 - i : i].load(std::memory_order_acquire);
    if (parallel_call == nullptr || !parallel_call->claimable()) continue;
    if (!serves(carrier, parallel_call->root.load(std::memory_order_relaxed))) continue;
    if (victim != carrier && !pool().may_do(carrier, parallel_call)) continue;
    const int index = parallel_call->take();
    if (index < 0) continue;
    settle_call(carrier, {parallel_call->root.load(std::memory_order_relaxed), parallel_call}, false);
    run_claimed(self, parallel_call, index);
    return true;
  }
  return false;
}

// A root's context runs on its own OS thread, but not at any price: what that thread is stuck in may be waiting
// for this very context. Its host is a worker: on another root's thread it could keep that one from its own.
bool is_abandoned(const Carrier* carrier, const Carrier* victim) noexcept {
  return !carrier->is_root() && victim->abandoned.load(std::memory_order_relaxed) &&
         victim->root_ready.load(std::memory_order_relaxed) != nullptr;
}

// Whether a carrier may take `context` out of another one's list: one that is bound had better wait for the carrier
// that has its CPUs, unless that does not come.
bool may_take(const Carrier* carrier, const Carrier* victim, const Context* context) noexcept {
  if (carrier->is_root() && context->group != carrier) return false;
  if (!pool().may_do(carrier, context->parallel_call.load(std::memory_order_relaxed))) return false;
  if (context->cpus == nullptr || context->cpus == carrier->cpus.load(std::memory_order_relaxed)) return true;
  return victim->stuck.load(std::memory_order_relaxed) || !may_serve(pool(), victim, work_of(context));
}

// Whether `carrier` may begin what has been left to `victim`: that has an identity for it, which others would have to
// make. So they do only where it does not come.
bool may_begin(const Carrier* carrier, const Carrier* victim) noexcept {
  const Context* stub = victim->bodiless_ready.load(std::memory_order_acquire);
  if (stub == nullptr) return false;
  const Pool& p = pool();
  const Work work{victim->bodiless_group.load(std::memory_order_relaxed),
                  stub->parallel_call.load(std::memory_order_relaxed)};
  if (!serves(carrier, work.group)) return false;
  if (!p.may_do(carrier, work.parallel_call)) return false;
  return carrier == victim || victim->late.load(std::memory_order_relaxed) || !may_serve(p, victim, work);
}

// Does it under the identity of `self`, unless that is about to end.
bool begin_bodiless(Context* self, Carrier* carrier, Carrier* victim) noexcept {
  Context* stub = may_begin(carrier, victim) ? victim->bodiless_ready.exchange(nullptr) : nullptr;
  if (stub == nullptr) return false;
  settle_call(carrier, work_of(stub), victim == carrier);
  const bool ends = self->born < pool().contexts_since.load(std::memory_order_relaxed);
  Context* runner = ends ? take_free(self->carrier, 0) : nullptr;
  if (runner == nullptr) runner = self;
  runner->group = stub->group;
  runner->parallel_call.store(stub->parallel_call.load(std::memory_order_relaxed), std::memory_order_relaxed);
  runner->place = stub->place;
  runner->start = stub->start;
  runner->start_argument = stub->start_argument;
  if (runner != self) switch_counted(self, runner, Departure::idle);
  return true;
}

// Calls up to `most` idle workers that contexts wait for in their own lists, from that of number `from` on. How many.
int call_waited_for(Pool& p, int from, int most) noexcept {
  const int count = p.worker_count.load(std::memory_order_acquire);
  int called = 0;
  for (int i = 0; i < count && called < most; ++i) {
    Carrier* worker = p.worker(from + i < count ? from + i : from + i - count);
    if (!p.is_idle(worker) || worker->ready.empty() || !p.allowed(worker)) continue;
    if (!p.idle.remove(worker->index)) continue;
    wake(worker);
    ++called;
  }
  return called;
}

bool resume_from(Context* self, Carrier* carrier, Carrier* victim) noexcept {
  Pool& p = pool();
  Context* context = nullptr;
  if (victim == carrier) {
    context = carrier->ready.pop(carrier->is_root() ? carrier : nullptr);
  } else {
    context = victim->ready.pop_first([=](const Context* ready) { return may_take(carrier, victim, ready); });
  }
  if (context == nullptr) return false;
  if (victim != carrier) carrier->statistics.steals.add();
  // Where there are more threads than CPUs, this one may have taken its CPU from who is calling the others.
  if (victim == carrier && p.is_oversubscribed()) call_waited_for(p, carrier->worker + 1, 1);
  settle_call(carrier, work_of(context), false);
  switch_counted(self, context, Departure::idle);
  return true;
}

bool resume_root(Context* self, Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) == nullptr) return false;
  Context* root = carrier->root_ready.exchange(nullptr);
  if (root == nullptr) return false;
  // Its own OS thread is stuck: what it says there holds for a while.
  if (__builtin_expect(root->rseq == Rseq::refused, 0)) platform::disclaim_rseq(root->thread_pointer);
  settle_call(self->carrier, work_of(root), true);
  switch_counted(self, root, Departure::idle);
  return true;
}

// Visits the carriers that may have work for `carrier`, other than itself, until `visit` says true: roots do their own
// work only, so they have none for each other.
template <class Visit>
bool visit_others(const Pool& p, const Carrier* carrier, Visit&& visit) noexcept {
  if (carrier->is_root()) {
    const int count = p.worker_count.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      if (visit(p.worker(i))) return true;
    }
    return false;
  }
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 1; i < count; ++i) {
    const int index = carrier->index + i;
    if (visit(p.carrier(index < count ? index : index - count))) return true;
  }
  return false;
}

bool serve_others(Context* self, Carrier* carrier) noexcept {
  return visit_others(pool(), carrier, [&](Carrier* victim) {
    if (is_abandoned(carrier, victim) && resume_root(self, victim)) return true;
    return claim_from(self, carrier, victim, false) || begin_bodiless(self, carrier, victim) ||
           resume_from(self, carrier, victim);
  });
}

// Does one piece of work, if there is any. Afterwards `self` may be on another carrier.
bool step(Context* self) noexcept {
  if (self->start != nullptr) {
    void (*start)(void*) = self->start;
    self->start = nullptr;
    start(self->start_argument);
    // As when a context becomes free: this one goes on as such. It may have been free meanwhile, and have the next
    // start.
    if (self->start == nullptr) shed(self->carrier, self);
    return true;
  }
  if (self->claimed != nullptr) {
    ParallelCall* parallel_call = self->claimed;
    self->claimed = nullptr;
    run_claimed(self, parallel_call, self->claimed_index);
    return true;
  }
  Carrier* carrier = self->carrier;
  // A root goes first, unless it has just let others go first.
  const bool root_last = std::exchange(carrier->root_yields, false);
  if (!root_last && resume_root(self, carrier)) return true;
  const bool allowed = pool().allowed(carrier);
  if (allowed || carrier->is_root()) {
    if (begin_bodiless(self, carrier, carrier)) return true;
    if (claim_from(self, carrier, carrier, true)) return true;
    if (resume_from(self, carrier, carrier)) return true;
  } else {
    decline_call(carrier);
  }
  if (allowed && serve_others(self, carrier)) return true;
  return root_last && resume_root(self, carrier);
}

bool has_ready_for(const Carrier* carrier, Carrier* victim) noexcept {
  if (victim->ready.empty()) return false;
  if (carrier == victim) return true;
  if (!carrier->is_root() && !g_binding_used.load(std::memory_order_relaxed) && !pool().is_oversubscribed())
    return true;
  const bool places_hold = carrier->is_root() && !pool().lateness.any();
  return victim->ready.has([=](const Context* ready) {
    // One that has its place would keep the root's own context from the only OS thread it can run on.
    return may_take(carrier, victim, ready) && !(places_hold && ready->place != nullptr);
  });
}

bool has_work_for(const Carrier* carrier, Carrier* victim) noexcept {
  if (is_abandoned(carrier, victim) || may_begin(carrier, victim) || has_ready_for(carrier, victim)) return true;
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    const ParallelCall* parallel_call = victim->open[i].load(std::memory_order_acquire);
    if (parallel_call != nullptr && parallel_call->claimable() &&
        serves(carrier, parallel_call->root.load(std::memory_order_relaxed)) &&
        (victim == carrier || pool().may_do(carrier, parallel_call))) {
      return true;
    }
  }
  return false;
}

// A hint: step() is likely to find something.
bool work_in_sight(Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  const Pool& p = pool();
  if (!p.allowed(carrier)) return false;
  return has_work_for(carrier, carrier) ||
         visit_others(p, carrier, [carrier](Carrier* victim) { return has_work_for(carrier, victim); });
}

// No longer idle. Who has called it meanwhile, but for what it alone does, has called nobody else.
void rise(Pool& p, Carrier* carrier, Carrier::Call called) noexcept {
  if (p.idle.remove(carrier->index)) return;
  if (carrier->wake.load(std::memory_order_relaxed) != Wake::own) carrier->call = called;
}

// Where a carrier sleeps, for whoever comes next; the others are for those that run short meanwhile.
constexpr int kKeptAsleep = 2;

// How long it took from the call until its thread had a CPU.
void note_rise(Carrier* carrier) noexcept {
  const int64_t called = carrier->called_ns.exchange(0, std::memory_order_relaxed);
  if (called == 0) return;
  const int64_t now = platform::now_ns();
  note_wait(carrier, now, now - called);
}

// Until there may be something to do. `in_place`: on the stack of a context that waits, or until it is notified.
void rest(Context* self, bool in_place) noexcept {
  Carrier* carrier = self->carrier;
  Pool& p = pool();
  // Relaxed: who finds it idle comes later.
  carrier->wake.store(Wake::none, std::memory_order_relaxed);
  p.idle.add(carrier->index);
  platform::full_fence_after_update();
  // Work published before this point may have found nobody idle.
  if (work_in_sight(carrier) || (in_place && self->token.load() != Token::resting)) {
    rise(p, carrier, Carrier::Call::missed);
    return;
  }
  const long budget = spin_ns();
  int64_t looked = budget == 0 ? 0 : platform::now_ns();
  const int64_t deadline = looked + budget;
  CpuSpread spread;
  for (int spins = 0; carrier->wake.load(std::memory_order_acquire) == Wake::none; ++spins) {
    platform::pause();
    if (budget != 0 && p.may_spin(carrier)) {
      if (spins % 64 != 63) continue;
      if (p.node.on()) p.node.look(p);
      const int64_t now = platform::now_ns();
      note_wait(carrier, now, now - std::exchange(looked, now));
      if (now < deadline) {
        spread.look(carrier, now, now - (deadline - budget));
        continue;
      }
    }
    if (Context* successor = in_place ? nullptr : release_before_sleep(self)) {
      rise(p, carrier, Carrier::Call::open);
      if (successor != self) switch_counted(self, successor, Departure::idle);
      return;
    }
    shelve(carrier, kKeptAsleep);
    if (p.node.on()) {
      p.node.lie_down(carrier);
      // Without its slot it may take another; with too many slots in the process it could not use the one it had.
      if (work_in_sight(carrier)) break;
    }
    uint32_t expected = Wake::none;
    if (!carrier->wake.compare_exchange_strong(expected, Wake::sleeping)) break;
    carrier->statistics.parks.add();
    while (carrier->wake.load() == Wake::sleeping) platform::futex_wait(carrier->wake, Wake::sleeping);
    note_rise(carrier);
    break;
  }
  rise(p, carrier, Carrier::Call::open);
}

}  // namespace

void idle(Context* self) noexcept {
  Pool& p = pool();
  do {
    rest(self, false);
  } while (!p.node.get_up(p, self->carrier));
}

void call_to_work(Carrier* carrier) noexcept {
  pool().idle.remove(carrier->index);
  wake(carrier);
}

void wake_for_work(Carrier* carrier) noexcept {
  if (work_in_sight(carrier)) call_to_work(carrier);
}

int pending_work(const Pool& p) noexcept {
  int pending = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p.carrier(i);
    pending += carrier.waiting_contexts();
    const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenCalls);
    for (int k = 0; k < top; ++k) {
      const ParallelCall* parallel_call = carrier.open[static_cast<size_t>(k)].load(std::memory_order_acquire);
      if (parallel_call != nullptr && parallel_call->claimable()) pending += parallel_call->unclaimed();
    }
  }
  return pending;
}

void set_switch_observer(SwitchObserver observer) noexcept { g_observer.store(observer, std::memory_order_release); }

void*& kept_by_carrier() noexcept { return current_context()->carrier->kept; }

int carrier_number() noexcept {
  const Carrier* carrier = current_context()->carrier;
  return carrier != nullptr && carrier->is_listed() ? carrier->index : -1;
}

pid_t thread_id() noexcept { return current_context()->carrier->thread_id.load(std::memory_order_relaxed); }

void run_for_ever() noexcept {
  Context* self = current_context();
  while (!self->ends) {
    if (!step(self)) idle(self);
  }
}

void departed(Context* left) noexcept {
  switch (left->departure) {
    case Departure::block: {
      uint32_t expected = Token::none;
      if (left->token.compare_exchange_strong(expected, Token::suspended)) return;
      left->token.store(Token::none);  // notified meanwhile; nobody else knows of it now
      make_ready(left);
      return;
    }
    case Departure::queue: left->queue->take_in(left); return;
    case Departure::yield: make_ready(left); return;
    case Departure::idle: put_free(left->carrier, left); return;
    case Departure::none: return;
  }
}

Context* make_context(void (*start)(void*), void* argument, int place) noexcept {
  Context* self = attach();
  Context* context = take_free(self->carrier, 0);
  if (context == nullptr) return nullptr;
  Pool& p = pool();
  context->start = start;
  context->start_argument = argument;
  context->group = self->group;
  context->carrier = self->carrier;
  const int workers = std::min(p.worker_count.load(std::memory_order_acquire), p.settings.slots - 1);
  context->place = nullptr;
  if (place % p.settings.slots != 0 && workers > 0) {
    context->carrier = p.worker((place - 1) % workers);
    // Where there are more contexts than CPUs, each had best stay where it last ran.
    if (place < p.settings.slots) context->place = context->carrier;
  }
  context->token.store(Token::held);
  return context;
}

void launch(Context* context) noexcept {
  uint32_t expected = Token::held;
  if (context->token.compare_exchange_strong(expected, Token::none)) {
    make_ready(context);
  } else {
    unblock(context);
  }
}

bool take_to_launch(Context* context) noexcept {
  uint32_t expected = Token::held;
  if (context->token.compare_exchange_strong(expected, Token::none)) return true;
  expected = Token::suspended;
  if (context->token.compare_exchange_strong(expected, Token::none)) return true;
  unblock(context);
  return false;
}

void launch_together(Context* chain) noexcept {
  Pool& p = pool();
  Work work;
  int pushed = 0;
  while (chain != nullptr) {
    Context* context = chain;
    chain = chain->next;
    if (context->bodiless) {
      make_ready(context);
      continue;
    }
    work = work_of(context);
    context->next = nullptr;
    carrier_for(context)->ready.push(context, context, 1);
    ++pushed;
  }
  // Who is idle is seen here, or sees what is in its list.
  platform::full_fence();
  const int called = call_waited_for(p, 0, pushed);
  if (pushed > called) notify_some(p, work, pushed - called);
}

bool hold(Context* context) noexcept {
  uint32_t expected = Token::suspended;
  return context->token.compare_exchange_strong(expected, Token::held);
}

void let_go(Context* context) noexcept { context->token.store(Token::suspended); }

bool make_bodiless(Context* stub, void (*start)(void*), void* argument, int place) noexcept {
  Pool& p = pool();
  if (place >= p.settings.slots || place > p.worker_count.load(std::memory_order_acquire)) return false;
  Carrier* worker = p.worker(place - 1);
  // One that is at something else may be for long, and others begin in its place only when it is late.
  if (!p.is_idle(worker) || worker->spoken_for.exchange(true, std::memory_order_relaxed)) return false;
  stub->bodiless = true;
  stub->start = start;
  stub->start_argument = argument;
  stub->group = attach()->group;
  stub->carrier = stub->place = worker;
  stub->token.store(Token::held);
  return true;
}

void release_bodiless(Context* stub) noexcept { stub->place->spoken_for.store(false, std::memory_order_relaxed); }

bool threads_refused() noexcept { return pool().contexts.refused(); }

bool has_spare() noexcept {
  Carrier* carrier = attach()->carrier;
  if (carrier->free.at_hand.empty() && carrier->is_listed()) {
    if (Context* spare = take_free(carrier, 0)) put_free(carrier, spare);
  }
  return !carrier->free.at_hand.empty();
}

void publish(ParallelCall* parallel_call, int count) noexcept {
  Context* self = current_context();
  Carrier* carrier = self->carrier;
  // Ranges of serials a carrier would be cheaper still; one add a nested region is some 5 ns.
  parallel_call->serial = pool().next_serial.fetch_add(1, std::memory_order_relaxed);
  self->last_parallel_call = parallel_call->serial;
  // Relaxed: who looks before its claim succeeds gets a hint; the claim orders the rest.
  parallel_call->root.store(self->group, std::memory_order_relaxed);
  parallel_call->publisher = carrier;
  parallel_call->pending.store(count - 1, std::memory_order_relaxed);
  parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
  // Release: a claimer that reads this value, or one added to it, sees the fields above.
  parallel_call->claim.store(1 | (static_cast<uint64_t>(count) << 32), std::memory_order_release);

  // In a full table nobody finds the parallel call, this carrier neither.
  int top = carrier->open_top.load(std::memory_order_relaxed);
  while (top > 0 && carrier->open[top - 1].load(std::memory_order_relaxed) == nullptr) --top;
  int place = 0;
  while (place < top && carrier->open[place].load(std::memory_order_relaxed) != nullptr) ++place;
  parallel_call->open_index = -1;
  if (place < kOpenCalls) {
    carrier->open[place].store(parallel_call, std::memory_order_release);
    parallel_call->open_index = place;
  }
  carrier->open_top.store(place == top && place < kOpenCalls ? top + 1 : top, std::memory_order_release);
  if (__builtin_expect(parallel_call->open_index < 0, 0)) summon(parallel_call, count - 1);
  notify({self->group, parallel_call});
}

bool join(ParallelCall* parallel_call, const std::atomic<bool>& stop) noexcept {
  Context* self = current_context();
  // Acquire: what the calls have done is seen.
  const auto done = [parallel_call] { return parallel_call->pending.load(std::memory_order_acquire) == 0; };
  // Relaxed: it says that there is something to look at.
  const auto over = [&] { return done() || stop.load(std::memory_order_relaxed); };
  while (!done()) {
    const bool unclaimed = parallel_call->claimable();
    if (!unclaimed && spin_until(self, over)) break;
    parallel_call->sleeper.store(self, std::memory_order_release);
    platform::full_fence();
    if (unclaimed ? done() : over()) {
      pass_call_on();
      break;
    }
    // Members that nobody has claimed want this carrier.
    const int index = unclaimed ? parallel_call->take() : -1;
    if (index < 0) {
      block_unless(over);
    } else if (!hand_over(self, parallel_call, index, Departure::block)) {
      run_here(self, parallel_call, index);
    }
  }
  if (!done()) return false;
  parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
  self->carrier->statistics.ends.add();
  if (parallel_call->open_index >= 0) {
    parallel_call->publisher->open[parallel_call->open_index].store(nullptr, std::memory_order_release);
  }
  return true;
}

namespace {

// A context that can go on, in whatever list it stands; or null.
[[gnu::noinline]] Context* ready_anywhere(Carrier* carrier) noexcept {
  Context* ready = nullptr;
  if (!(carrier->is_root() || pool().allowed(carrier))) return nullptr;
  visit_others(pool(), carrier, [&](Carrier* victim) {
    ready = victim->ready.pop_first([=](const Context* context) { return may_take(carrier, victim, context); });
    return ready != nullptr;
  });
  return ready;
}

// What can go on in place of `self`, without a context made for it; or null.
[[gnu::always_inline]] inline Context* successor_of(const Context* self) noexcept {
  Carrier* carrier = self->carrier;
  Context* successor =
      carrier->root_ready.load(std::memory_order_relaxed) != nullptr ? carrier->root_ready.exchange(nullptr) : nullptr;
  if (successor == nullptr && (carrier->is_root() || pool().allowed(carrier))) {
    successor = carrier->ready.pop(carrier->is_root() ? carrier : nullptr);
  }
  // Its own thread may be long in coming for it.
  if (successor == nullptr && pool().lateness.any()) successor = ready_anywhere(carrier);
  // Poked a moment after it had ceased to wait, or to stop that.
  take_poke(carrier);
  if (successor != nullptr) {
    settle_call(carrier, work_of(successor), successor->home != nullptr);
    return successor;
  }
  // It need not fit what it will do, but it saves a switch.
  successor = find_at_hand(carrier, self->last_parallel_call);
  return successor != nullptr ? successor : find_free(carrier, 0);
}

// Whether the carrier of `self` may go on with it.
bool may_go_on(const Pool& p, const Context* self) noexcept {
  const Carrier* carrier = self->carrier;
  return carrier->is_root() || p.allowed_for(carrier, self->parallel_call.load(std::memory_order_relaxed));
}

// Waits on the caller's own stack, until it is notified: true; or until the carrier has something else to do. So a
// context is made for work only, not to sleep in: flat regions need none.
bool rest_in_place(Context* self) noexcept {
  Carrier* carrier = self->carrier;
  Pool& p = pool();
  // Who may not run had better leave it to others who may; and nobody finds one that stands in no table.
  if (!carrier->is_listed() || p.node.on() || !may_go_on(p, self)) return false;
  // Where its thread may wait for a CPU, it had better be where whoever runs can go on with it. A root could not.
  if (self->home == nullptr && carrier->lateness.any()) return false;
  self->rests_on.store(carrier, std::memory_order_relaxed);
  do {
    release_in_place(self);
    uint32_t expected = Token::none;
    if (!self->token.compare_exchange_strong(expected, Token::resting)) break;
    rest(self, true);
    expected = Token::resting;
    if (!self->token.compare_exchange_strong(expected, Token::none)) break;
    if (work_in_sight(carrier)) return false;
    if (!may_go_on(p, self)) decline_call(carrier);
  } while (true);
  self->token.store(Token::none);
  // It goes on with what nobody else can do.
  settle_call(carrier, work_of(self), true);
  if (may_go_on(p, self)) return true;
  if (Context* successor = take_free(carrier, 0)) switch_counted(self, successor, Departure::yield);
  return true;
}

// The system refuses the identity under which the carrier could begin something. What has begun can go on all the same;
// it may come at any time from where nobody looks for this carrier.
void wait_without_identity(Context* self) noexcept {
  constexpr int64_t kLookNs = 1'000'000;
  for (;;) {
    Context* successor = successor_of(self);
    if (successor == nullptr) successor = ready_anywhere(self->carrier);
    if (successor != nullptr) {
      leave_to(self, successor, Departure::block);
      return;
    }
    uint32_t expected = Token::none;
    if (!self->token.compare_exchange_strong(expected, Token::sleeping)) break;
    if (self->carrier->is_listed()) {
      platform::futex_wait_for(self->token, Token::sleeping, kLookNs);
    } else {
      platform::futex_wait(self->token, Token::sleeping);
    }
    expected = Token::sleeping;
    if (!self->token.compare_exchange_strong(expected, Token::none)) break;
  }
  self->token.store(Token::none);
  pass_call_on();
}

}  // namespace

void pass_call_on() noexcept {
  const Context* self = current_context();
  Carrier* carrier = self->carrier;
  if (carrier->call == Carrier::Call::none) return;
  if (carrier->is_root() || pool().allowed(carrier)) {
    settle_call(carrier, work_of(self), true);
  } else {
    decline_call(carrier);
  }
}

void block() noexcept {
  Context* self = current_context();
  uint32_t expected = Token::notified;
  if (self->token.compare_exchange_strong(expected, Token::none)) {
    pass_call_on();
    return;
  }
  if (Context* successor = successor_of(self)) {
    leave_to(self, successor, Departure::block);
    return;
  }
  if (rest_in_place(self) || leave(self, Departure::block)) return;
  wait_without_identity(self);
}

bool leave(Context* self, Departure departure) noexcept {
  Context* successor = successor_of(self);
  if (successor == nullptr && self->carrier->is_listed()) successor = make_free();
  if (successor == nullptr) return false;
  leave_to(self, successor, departure);
  return true;
}

void unblock(Context* context) noexcept {
  uint32_t seen = context->token.load();
  // Its stack may be of a life that has not begun.
  while (seen != Token::held) {
    const uint32_t next = seen == Token::suspended ? uint32_t{Token::none} : uint32_t{Token::notified};
    if (!context->token.compare_exchange_weak(seen, next)) continue;
    if (seen == Token::suspended) make_ready(context);
    if (seen == Token::resting) call(context->rests_on.load(std::memory_order_relaxed));
    if (seen == Token::sleeping) platform::futex_wake(context->token, 1);
    return;
  }
}

bool yield() noexcept {
  Context* self = current_context();
  if (self->carrier == nullptr || !(wanted_elsewhere(self) || work_in_sight(self->carrier))) return false;
  Context* successor = take_free(self->carrier, 0);
  if (successor == nullptr) return false;
  self->carrier->root_yields = self->home == self->carrier;
  switch_counted(self, successor, Departure::yield);
  return true;
}

void return_home(Context* root) noexcept {
  while (root->carrier != root->home) {
    Context* successor = take_free(root->carrier, 0);
    if (successor == nullptr) return;  // it stays a guest until its next region ends
    switch_counted(root, successor, Departure::yield);
  }
}

long spin_ns() noexcept { return pool().spin_ns.load(std::memory_order_relaxed); }

void set_spin_ns(long ns) noexcept { pool().spin_ns.store(ns, std::memory_order_relaxed); }

bool owed_to_node(int64_t waited_ns) noexcept {
  // What one waits for inside a region is mostly near: to give a slot away and to ask for it again takes as long.
  constexpr int64_t kPatienceNs = 50'000;
  Pool& p = pool();
  if (waited_ns < kPatienceNs || !p.node.on()) return false;
  p.node.look(p);
  return p.gate.load(std::memory_order_relaxed) != 0;
}

void begin_waiting(const Context* self) noexcept {
  Carrier* carrier = self->carrier;
  carrier->waiting.store(true, std::memory_order_relaxed);
  pool().waiting_count.fetch_add(1);
  platform::full_fence_after_update();
  // Work published before this point has found nobody.
  if (work_in_sight(carrier)) carrier->poked.store(true, std::memory_order_relaxed);
}

void end_waiting(const Context* self, bool goes_on) noexcept {
  Carrier* carrier = self->carrier;
  carrier->waiting.store(false, std::memory_order_relaxed);
  // With the fence in poke_waiting(): a poke is seen here, or seen there to be in vain.
  pool().waiting_count.fetch_sub(1);
  platform::full_fence_after_update();
  take_poke(carrier);
  if (goes_on) settle_call(carrier, work_of(self), true);
}

void offer_thread(const Context* self) noexcept {
  Carrier* carrier = self->carrier;
  if (!carrier->is_root()) return;
  const bool there = visit_others(pool(), carrier, [carrier](Carrier* victim) {
    return may_begin(carrier, victim) ||
           victim->ready.has([=](const Context* ready) { return may_take(carrier, victim, ready); });
  });
  if (there) carrier->poked.store(true, std::memory_order_relaxed);
}

bool is_oversubscribed() noexcept { return pool().is_oversubscribed(); }

bool comes_late(const Context* self, int64_t now_ns, int64_t since_ns) noexcept {
  note_wait(self->carrier, now_ns, since_ns);
  return self->carrier->lateness.any();
}

bool wanted_elsewhere(const Context* self) noexcept {
  const Carrier* carrier = self->carrier;
  if (!carrier->ready.empty() || carrier->poked.load(std::memory_order_relaxed)) return true;
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  return !carrier->is_root() && !pool().allowed(carrier);
}

}  // namespace weft::core
