// SPDX-License-Identifier: Apache-2.0
#include "core/gang.h"

#include "core/pool.h"

namespace weft::core {

namespace {

bool has_time(const Carrier* carrier, const Context* self) noexcept {
  if (carrier == self->carrier || !carrier->ready.empty()) return false;
  const Pool& p = pool();
  if (carrier->is_root() ? carrier != self->group : !p.allowed(carrier)) return false;
  // Relaxed: both are guesses about a moment that has passed when they are used.
  return carrier->waiting.load(std::memory_order_relaxed) || p.is_idle(carrier);
}

void join_gang(void* bundle) noexcept { take_part(static_cast<Bundle*>(bundle)); }

}  // namespace

int idle_carriers() noexcept {
  const Context* self = current_context();
  const Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  int idle = 0;
  for (int i = 0; i < count; ++i) idle += has_time(p.carrier(i), self) ? 1 : 0;
  return idle;
}

bool alone() noexcept {
  const Context* self = current_context();
  const int own = self->home != nullptr && self->home->holds_slot.load(std::memory_order_relaxed) ? 1 : 0;
  return pool().active_roots.load(std::memory_order_relaxed) <= own && !pool().node.on();
}

int lend_threads(int missing) noexcept {
  if (missing <= 0) return 0;
  Pool& p = pool();
  p.lent_to_gangs.fetch_add(missing, std::memory_order_relaxed);
  p.compensations.fetch_add(static_cast<uint64_t>(missing), std::memory_order_relaxed);
  grow_workers(p.worker_limit());
  return missing;
}

void return_threads(int lent) noexcept {
  if (lent > 0) pool().lent_to_gangs.fetch_sub(lent, std::memory_order_relaxed);
}

void take_part(Bundle* bundle) noexcept {
  const int index = bundle->take();
  if (index >= 0) run_claimed(current_context(), bundle, index);
}

void summon(Bundle* bundle, int calls) noexcept {
  const Context* self = current_context();
  Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  int next = 0;
  for (int i = 0; i < calls; ++i) {
    Context* context = make_context(join_gang, bundle, 0);
    if (context == nullptr) return;
    while (next < count && !has_time(p.carrier(next), self)) ++next;
    if (next < count) context->carrier = p.carrier(next++);
    unblock(context);
  }
}

}  // namespace weft::core
