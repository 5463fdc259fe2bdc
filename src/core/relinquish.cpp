// SPDX-License-Identifier: Apache-2.0
// Giving back what idle contexts hold. A carrier's own ones are touched by no other, so each carrier does its part when
// it has nothing to do, right before it falls asleep.
#include "core/pool.h"

namespace weft::core {

void relinquish_free(Carrier* carrier) noexcept {
  Pool& p = pool();
  // Acquire: what the caller of relinquish() has done before is seen.
  const uint32_t request = p.relinquish_requests.load(std::memory_order_acquire);
  carrier->relinquished = request;
  const bool with_identities = (request & 1) != 0;
  p.lock.lock();
  while (Context* context = carrier->free_first) {
    carrier->free_first = context->next;
    p.contexts.put(context);
  }
  carrier->free_last = nullptr;
  carrier->free_count = 0;
  Context* ending = with_identities ? p.contexts.take_out() : nullptr;
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
  // Two callers at once: one request stands for both. Release: see above.
  p.relinquish_requests.store(((before | 1) + 1) | (with_identities ? 1 : 0), std::memory_order_release);
  relinquish_free(attach()->carrier);
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) wake(p.worker(i));
}

}  // namespace weft::core
