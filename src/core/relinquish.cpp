// SPDX-License-Identifier: Apache-2.0
// Giving back what idle contexts hold. A carrier's own ones are touched by no other, so each carrier does its part when
// it has nothing to do, right before it falls asleep.
#include "core/pool.h"

namespace weft::core {

void relinquish_free(Carrier* carrier, uint32_t request) noexcept {
  Pool& p = pool();
  const bool with_identities = (request & 1) != 0;
  p.lock.lock();
  if (with_identities) p.contexts.retire(request);
  while (Context* context = carrier->free_first) {
    carrier->free_first = context->next;
    p.contexts.put(context);
  }
  carrier->free_last = nullptr;
  carrier->free_count = 0;
  Context* ending = p.contexts.take_out();
  if (!with_identities) p.contexts.trim();
  p.lock.unlock();
  if (ending == nullptr) return;
  // What their thread-local objects do at their end may need the lock.
  ContextPool::end(ending);
  p.lock.lock();
  p.contexts.reuse(ending);
  p.lock.unlock();
}

void relinquish(bool with_identities) noexcept {
  Pool& p = pool();
  const uint32_t before = p.relinquish_requests.load(std::memory_order_relaxed);
  const uint32_t request = ((before | 1) + 1) | (with_identities ? 1 : 0);
  // Two callers at once: one request stands for both. Relaxed: the lock orders what is done about it.
  p.relinquish_requests.store(request, std::memory_order_relaxed);
  relinquish_free(attach()->carrier, request);
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) wake(p.worker(i));
}

}  // namespace weft::core
