// SPDX-License-Identifier: Apache-2.0
#include "core/sched/waking.h"

#include <algorithm>
#include <utility>

#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

void wake_sleeper(Carrier* carrier) noexcept {
  // Relaxed: it comes by the kernel's wake-up, and a time of an earlier call only makes it seem late once.
  carrier->called_ns.store(platform::now_ns(), std::memory_order_relaxed);
  platform::futex_wake(carrier->wake, 1);
}

// Workers are made when there is work for them, as many as there are slots. Whether there are more now.
// Where the system refuses threads, whoever has work to give does not ask for more of them each time.
bool make_workers(const Pool& p, int calls) noexcept {
  const int there = p.worker_count.load(std::memory_order_relaxed);
  if (there >= p.settings.slots - 1 || p.contexts.refused()) return false;
  grow_workers(std::min(p.settings.slots - 1, there + calls));
  return true;
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

void wake_some(Pool& p, Work work, int most) noexcept {
  const auto wake_idle_ones = [&] {
    while (most > 0 && wake_idle(p, work)) --most;
  };
  wake_idle_ones();
  if (most > 0 && make_workers(p, most)) wake_idle_ones();
  if (most > 0 && p.waiting_count.load(std::memory_order_relaxed) > 0) poke_waiting(p, work, most);
}

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

}  // namespace weft::core
