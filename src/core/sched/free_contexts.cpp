// SPDX-License-Identifier: Apache-2.0
#include "core/sched/free_contexts.h"

#include <algorithm>
#include <mutex>

#include "core/sched/carrier_binding.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/upcalls.h"

namespace weft::core {

namespace {

constexpr int kMostAtHand = 128;
// So many contexts are taken from another carrier's shelf at once: where contexts always start on one carrier and end
// on another, the shelf need not be visited for each.
constexpr int kFetchedAtOnce = 16;

Context* life(void*) {
  run_for_ever();
  // Only a worker's own context ends.
  __builtin_unreachable();
}

// Returns a context that fits; up to `more` others that fit go to `rest`.
template <class Fits>
Context* take_several(FreeContexts& free, Fits&& fits, int more, ContextQueue& rest) noexcept {
  if (free.shelved.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(free.lock);
  Context* found = free.take_from_shelf(fits);
  more = std::min(more, free.shelf.size() / 2);
  for (; found != nullptr && more > 0; --more) {
    Context* other = free.take_from_shelf(fits);
    if (other == nullptr) break;
    rest.add_first(other);
  }
  return found;
}

// Whether a context fits: it has not served the parallel call `avoid` last, and its identity is not one that is to end.
struct Fits {
  uint64_t avoid;
  uint32_t born;
  bool operator()(const Context* context) const noexcept {
    return (avoid == 0 || context->last_parallel_call != avoid) && context->born >= born;
  }
};

// Relaxed: a carrier that has not seen a request yet acts as if it came before it.
Fits fitting(uint64_t avoid) noexcept { return {avoid, pool().contexts_since.load(std::memory_order_relaxed)}; }

// Looks for a context that fits where the oldest one at hand does not: on the shelf, at hand, and, `anywhere`, on
// others' shelves.
[[gnu::noinline]] Context* look_further(Carrier* carrier, Fits fits, bool anywhere) noexcept {
  FreeContexts& own = carrier->free;
  // If many contexts are at hand and all have served this team, while those that have not lie on the shelf, the team
  // has more members than contexts are kept at hand: then more are kept.
  const bool large = fits.avoid != 0 && own.at_hand.size() >= own.kept / 2;
  // The oldest context on the shelf mostly fits. Only where none there does, all those at hand are looked through.
  if (Context* context = take_several(own, fits, own.kept / 2 - 1, own.at_hand)) {
    if (large) own.kept = std::min(2 * own.kept, kMostAtHand);
    return context;
  }
  if (Context* context = own.at_hand.take(fits)) return context;
  // A carrier that stands in no table takes no others' contexts: nobody finds work on it, so it needs few.
  if (!anywhere || !carrier->is_listed()) return nullptr;
  Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 1; i < count; ++i) {
    const int index = carrier->index + i;
    FreeContexts& others = p.carrier(index < count ? index : index - count)->free;
    ContextQueue rest;
    Context* context = take_several(others, fits, kFetchedAtOnce - 1, rest);
    if (context == nullptr) continue;
    const std::lock_guard lock(own.lock);
    while (Context* other = rest.take()) own.put_on_shelf(other);
    return context;
  }
  return nullptr;
}

// Returns a context where the oldest one at hand does not fit; makes one, if the system allows it. Who has to leave a
// stack needs one. Who only keeps members apart does without where there are enough: each carrier would need one for
// every member of a large team, which is the square of the CPUs in all.
[[gnu::noinline]] Context* take_or_make(Carrier* carrier, uint64_t avoid, bool may_lack) noexcept {
  const Pool& p = pool();
  const bool needed = !may_lack || p.contexts.size() < enough_contexts(p.settings);
  Context* context = look_further(carrier, fitting(avoid), needed);
  if (context != nullptr || !needed) return context;
  if (Context* made = carrier->is_listed() ? make_free() : nullptr) return made;
  return avoid != 0 ? find_free(carrier, 0) : nullptr;
}

}  // namespace

size_t kept_threads(const Settings& settings) noexcept {
  constexpr size_t kOfPauses = 2;
  if (settings.parked_threads >= 0) return static_cast<size_t>(settings.parked_threads);
  return has_polling_services() ? kOfPauses : size_t{kAllParkedThreads};
}

Context* find_free(Carrier* carrier, uint64_t avoid) noexcept {
  const Fits fits = fitting(avoid);
  Context* context = carrier->free.at_hand.take_first(fits);
  return context != nullptr ? context : look_further(carrier, fits, true);
}

Context* find_at_hand(Carrier* carrier, uint64_t avoid) noexcept {
  return carrier->free.at_hand.take_first(
      [avoid](const Context* context) { return context->last_parallel_call != avoid; });
}

Context* make_free(bool needed) noexcept {
  Pool& p = pool();
  const std::lock_guard lock(p.lock);
  Context* made = p.contexts.make(needed, kept_threads(p.settings));
  if (made == nullptr) return nullptr;
  prepare(made, life, nullptr);
  made->born = p.release_requests.load(std::memory_order_relaxed);
  return made;
}

void stock_shelf(Carrier* carrier, int count) noexcept {
  const Pool& p = pool();
  int missing = count;
  const int carriers = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < carriers; ++i) missing -= p.carrier(i)->free.shelved.load(std::memory_order_relaxed);
  FreeContexts& free = carrier->free;
  for (; missing > 0; --missing) {
    Context* made = make_free(false);
    if (made == nullptr) return;
    const std::lock_guard lock(free.lock);
    free.put_on_shelf(made);
  }
}

Context* take_free(Carrier* carrier, uint64_t avoid, bool may_lack) noexcept {
  Context* context = carrier->free.at_hand.take_first(fitting(avoid));
  return context != nullptr ? context : take_or_make(carrier, avoid, may_lack);
}

void shed(Carrier* carrier, Context* context) noexcept {
  context->preferred = nullptr;
  context->parallel_call.store(nullptr, std::memory_order_relaxed);
  if (context->cpus == nullptr) return;
  context->cpus = nullptr;
  context->pinned = false;
  leave_binding(carrier);
}

namespace {

void put_away(Carrier* carrier, int left) noexcept {
  FreeContexts& free = carrier->free;
  const std::lock_guard lock(free.lock);
  while (free.at_hand.size() > left) free.put_on_shelf(free.at_hand.take());
}

}  // namespace

void put_free(Carrier* carrier, Context* context) noexcept {
  shed(carrier, context);
  carrier->free.at_hand.add(context);
  const int kept = carrier->free.kept;
  if (carrier->free.at_hand.size() > kept) put_away(carrier, kept / 2);
}

void shelve(Carrier* carrier, int kept) noexcept {
  carrier->free.kept = FreeContexts::kFew;
  if (carrier->free.at_hand.size() > kept) put_away(carrier, kept);
}

}  // namespace weft::core
