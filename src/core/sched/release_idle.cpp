// SPDX-License-Identifier: Apache-2.0
// Giving back what idle contexts hold. What a carrier has at hand is touched by no other, so each carrier does its part
// when it has nothing to do, right before it falls asleep.
#include <mutex>
#include <utility>

#include "core/sched/pool.h"
#include "core/sched/release_idle.h"
#include "core/sched/waking.h"

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

void end_all(ContextQueue& stale) noexcept {
  Pool& p = pool();
  Context* ending = nullptr;
  p.lock.lock();
  while (Context* context = stale.take()) {
    if (!context->donated) {
      end_own(p, context);
      continue;
    }
    p.contexts.withdraw(context);
    context->next = std::exchange(ending, context);
  }
  p.lock.unlock();
  if (ending == nullptr) return;
  // What their thread-local objects do at their end may need the lock.
  ContextPool::end(ending);
  const std::lock_guard lock(p.lock);
  p.contexts.reuse(ending);
}

void give_back(Carrier* carrier, uint32_t request, bool at_hand) noexcept {
  FreeContexts& free = carrier->free;
  const bool with_identities = (request & 1) != 0;
  const auto concerned = [=](const Context* context) { return !with_identities || context->born < request; };
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
    end_all(taken);
    return;
  }
  // System calls without the lock: a carrier that runs short of contexts meanwhile looks elsewhere.
  taken.visit(trim_stack);
  const std::lock_guard lock(free.lock);
  while (Context* context = taken.take()) free.put_on_shelf(context);
}

}  // namespace

Context* release_before_sleep(Context* self) noexcept {
  Pool& p = pool();
  Carrier* carrier = self->carrier;
  // Relaxed: only this thread takes it.
  if (carrier->own_ends.load(std::memory_order_relaxed) != nullptr) {
    Context* own = carrier->own_ends.exchange(nullptr, std::memory_order_acquire);
    own->ends = true;
    return own;
  }
  // Relaxed: a carrier that sees the request late is woken behind it and comes here once more.
  const uint32_t request = p.release_requests.load(std::memory_order_relaxed);
  if (request == carrier->released) return nullptr;
  give_back(carrier, request, true);
  if ((request & 1) != 0 && self->born < request) {
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
  give_back(carrier, request, true);
  trim_own_stack(self);
  carrier->released = request;
}

void release_idle(bool with_identities) noexcept {
  Pool& p = pool();
  uint32_t before = p.release_requests.load(std::memory_order_relaxed);
  uint32_t request;
  // The count only rises: contexts are told by it which of them are older. Relaxed: the shelves' locks order what is
  // done about it.
  do {
    request = ((before | 1) + 1) | (with_identities ? 1 : 0);
  } while (!p.release_requests.compare_exchange_weak(before, request, std::memory_order_relaxed));
  uint32_t since = p.contexts_since.load(std::memory_order_relaxed);
  while (with_identities && since < request &&
         !p.contexts_since.compare_exchange_weak(since, request, std::memory_order_relaxed)) {
  }
  Carrier* own = attach()->carrier;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) give_back(p.carrier(i), request, p.carrier(i) == own);
  const int workers = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < workers; ++i) wake(p.worker(i));
}

}  // namespace weft::core
