// SPDX-License-Identifier: Apache-2.0
// Gives back what idle contexts hold: stacks and identities. No other carrier touches the contexts that a carrier has
// at hand, so each carrier does its part when it has nothing to do, right before it falls asleep.
#include <mutex>
#include <utility>

#include "core/sched/free_contexts.h"
#include "core/sched/pool.h"
#include "core/sched/release_idle.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/waking.h"
#include "core/sched/watcher.h"

namespace weft::core {

namespace {

// A worker's own identity ends with its thread, so that thread has to see to it.
void end_own(const Pool& p, Context* context) noexcept {
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    Carrier* worker = p.worker(i);
    if (&worker->own_context != context) continue;
    worker->own_ends.store(context, std::memory_order_release);
    wake(worker);
  }
}

// Ends the contexts of `stale` that are workers' own identities. Returns the others.
ContextQueue end_workers(const Pool& p, ContextQueue& stale) noexcept {
  ContextQueue donated;
  while (Context* context = stale.take()) {
    if (context->donated) {
      donated.add(context);
    } else {
      end_own(p, context);
    }
  }
  return donated;
}

// Ends the contexts of `stale`. Waits until those of donors have ended.
void end_and_wait(Pool& p, ContextQueue& stale) noexcept {
  ContextQueue donated = end_workers(p, stale);
  Context* ending = nullptr;
  p.lock.lock();
  while (Context* context = donated.take()) {
    p.contexts.withdraw(context);
    context->next = std::exchange(ending, context);
  }
  p.lock.unlock();
  if (ending == nullptr) return;
  // The lock is free here: the destructors of the identities' thread-local objects may need it.
  const auto [ended, later] = ContextPool::end(ending);
  p.surplus.end_later(later);
  const std::lock_guard lock(p.lock);
  p.contexts.reuse(ended);
}

void begin_to_end(Pool& p, ContextQueue& stale) noexcept {
  ContextQueue donated = end_workers(p, stale);
  if (donated.empty()) return;
  p.surplus.end(p, donated);
  wake_monitor();
}

// What a request asks for, in its lowest bits. The bits above are a number that rises.
enum Wanted : uint32_t {
  stacks = 0,
  identities = 1,
  used = 2,  // together with `identities`: only those that have served a region
  kWantedBits = 3,
};

// Whether a free context is to end by this request. One that an earlier request has barred from use is to end anyway.
struct IsStale {
  uint32_t request;
  bool operator()(const Context* context) const noexcept {
    const Pool& p = pool();
    if ((request & identities) == 0 || context->born >= request) return false;
    if ((request & used) == 0 || context->born < p.contexts_since.load(std::memory_order_relaxed)) return true;
    return context->root != nullptr && !p.exits.load(std::memory_order_relaxed);
  }
};

// Serves a request: takes the contexts concerned from the carrier's shelf, and with `at_hand` from those at hand too.
// With `waits` it returns when the identities have ended.
void give_back(Carrier* carrier, uint32_t request, bool at_hand, bool waits) noexcept {
  FreeContexts& free = carrier->free;
  const bool with_identities = (request & identities) != 0;
  const auto concerned = [=](const Context* context) { return !with_identities || IsStale{request}(context); };
  ContextQueue taken;
  if (at_hand && with_identities) {
    while (Context* context = free.at_hand.take(concerned)) taken.add(context);
  } else if (at_hand) {
    free.at_hand.visit(trim_stack);
  }
  free.lock.lock();
  while (Context* context = free.take_from_shelf(concerned)) taken.add(context);
  free.lock.unlock();
  if (taken.empty()) return;
  if (with_identities) {
    if (waits) {
      end_and_wait(pool(), taken);
    } else {
      begin_to_end(pool(), taken);
    }
    return;
  }
  // The system calls are made without the lock: a carrier that runs short of contexts meanwhile looks elsewhere.
  taken.visit(trim_stack);
  const std::lock_guard lock(free.lock);
  while (Context* context = taken.take()) free.put_on_shelf(context);
}

// The worker's own identity, if it is to end; or null.
Context* take_own_that_ends(Carrier* carrier) noexcept {
  // Relaxed: only this thread takes it.
  if (carrier->own_ends.load(std::memory_order_relaxed) == nullptr) return nullptr;
  Context* own = carrier->own_ends.exchange(nullptr, std::memory_order_acquire);
  own->ends = true;
  return own;
}

uint32_t next_request(Pool& p, uint32_t wanted) noexcept {
  uint32_t before = p.release_requests.load(std::memory_order_relaxed);
  uint32_t request;
  // The number only rises: compared with a context's `born` it says whether the context is older. Relaxed: the locks of
  // the shelves order what is done about a request.
  do {
    request = ((before | kWantedBits) + 1) | wanted;
  } while (!p.release_requests.compare_exchange_weak(before, request, std::memory_order_relaxed));
  return request;
}

}  // namespace

Context* release_before_sleep(Context* self) noexcept {
  Pool& p = pool();
  Carrier* carrier = self->carrier;
  if (Context* own = take_own_that_ends(carrier)) return own;
  // Relaxed: a carrier that does not see the request yet is woken after it, and comes here once more.
  const uint32_t request = p.release_requests.load(std::memory_order_relaxed);
  if (request == carrier->released) return nullptr;
  give_back(carrier, request, true, false);
  // The worker's next thread comes here too, with its own identity.
  if (Context* own = take_own_that_ends(carrier)) return own;
  if (IsStale{request}(self)) {
    if (self == &carrier->own_context) {
      self->ends = true;
      return self;
    }
    // The context that runs this loop cannot end itself: another one takes its place, and comes here too.
    if (Context* successor = make_free()) return successor;
  }
  carrier->released = request;
  return nullptr;
}

void release_in_place(Context* self) noexcept {
  Carrier* carrier = self->carrier;
  const uint32_t request = pool().release_requests.load(std::memory_order_relaxed);
  if (request == carrier->released) return;
  give_back(carrier, request, true, false);
  if ((request & used) == 0) trim_own_stack(self);
  carrier->released = request;
}

void release_idle(bool with_identities) noexcept {
  Pool& p = pool();
  const uint32_t request = next_request(p, with_identities ? identities : stacks);
  uint32_t since = p.contexts_since.load(std::memory_order_relaxed);
  while (with_identities && since < request &&
         !p.contexts_since.compare_exchange_weak(since, request, std::memory_order_relaxed)) {
  }
  Carrier* own = attach()->carrier;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) give_back(p.carrier(i), request, p.carrier(i) == own, true);
  const int workers = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < workers; ++i) wake(p.worker(i));
  if (with_identities) p.surplus.await_ends(p);
}

void end_used_identities(Pool& p) noexcept {
  const uint32_t request = next_request(p, identities | used);
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) give_back(p.carrier(i), request, false, false);
}

}  // namespace weft::core
