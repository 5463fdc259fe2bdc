// SPDX-License-Identifier: Apache-2.0
// Fork and join: a parallel call is published, its members are claimed, its publisher waits for the last of them.
#include "core/sched/fork_join.h"

#include <cassert>
#include <utility>

#include "core/sched/blocking.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/free_contexts.h"
#include "core/sched/gang.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/spinning.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"
#include "platform/fence.h"

namespace weft::core {

namespace {

[[gnu::always_inline]] inline void finish(ParallelCall* parallel_call) noexcept {
  assert(parallel_call->pending.load(std::memory_order_relaxed) > 0);
  if (parallel_call->pending.fetch_sub(1) != 1) return;
  platform::full_fence_after_update();
  if (Context* sleeper = parallel_call->sleeper.load(std::memory_order_acquire)) unblock(sleeper);
}

// Hands a member to a fresh context: two members of one team on one identity would share their
// threadprivate data. False when there is no other context; or, where the caller `may_share` its own, none is needed.
bool hand_over(Context* self, ParallelCall* parallel_call, int index, Departure departure,
               bool may_share = false) noexcept {
  Context* fresh = take_free(self->carrier, parallel_call->serial, may_share);
  if (fresh == nullptr) return false;
  // Where no other context is to be had, two members share an identity: better than to look for one for ever.
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

// Called by a carrier that has claimed a member. A publication wakes one carrier; each one that has claimed wakes
// others as long as members are left: one, or two where there are many slots, so that all come soon.
void call_more(ParallelCall* parallel_call, const Carrier* root) noexcept {
  constexpr int kFewSlots = 8;
  const int left = parallel_call->unclaimed();
  if (left > 0) notify_claimers(parallel_call, root, left > 1 && pool().settings.slots > kFewSlots ? 2 : 1);
}

}  // namespace

void run_claimed(Context* self, ParallelCall* parallel_call, int index) noexcept {
  return_to_place(self->carrier);
  while (index >= 0) {
    // Nobody counts on the caller's identity: it has run a member of this call that has ended.
    if (self->last_parallel_call == parallel_call->serial &&
        hand_over(self, parallel_call, index, Departure::idle, true))
      return;
    self->last_parallel_call = parallel_call->serial;
    self->root = parallel_call->root.load(std::memory_order_relaxed);
    self->parallel_call.store(parallel_call, std::memory_order_relaxed);
    call_more(parallel_call, self->root);
    run_here(self, parallel_call, index);
    // The next member is claimed from the record rather than by way of the table: the call may not stand there. The
    // record may serve another parallel call by now; then this claims a member of that one.
    index = pool().is_on_nodes_of(parallel_call, self->carrier) ? parallel_call->take() : -1;
  }
}

void take_part(ParallelCall* parallel_call, uint64_t* served) noexcept {
  Context* self = current_context();
  const int index = parallel_call->take();
  if (index < 0) return;
  // `self` is in the middle of something: it must go on, so it is ready meanwhile and not free.
  if (*served == parallel_call->serial && hand_over(self, parallel_call, index, Departure::yield)) return;
  *served = parallel_call->serial;
  Carrier* const root = std::exchange(self->root, parallel_call->root.load(std::memory_order_relaxed));
  call_more(parallel_call, self->root);
  run_here(self, parallel_call, index);
  self->root = root;
}

namespace {

// Takes the parallel call out of its publisher's table: no carrier finds it any more.
void take_down(ParallelCall* parallel_call) noexcept {
  if (parallel_call->open_index < 0) return;
  parallel_call->publisher->open[parallel_call->open_index].store(nullptr, std::memory_order_release);
}

}  // namespace

void publish(ParallelCall* parallel_call, int count) noexcept {
  Context* self = current_context();
  Carrier* carrier = self->carrier;
  assert(parallel_call->is_over() && count >= 1);
  parallel_call->open_index = -1;
  if (count == 1) {
    // No other carrier is to come, so none is called, and the fields that others read stay as they are: the claims on
    // the record's last parallel call are over.
    parallel_call->publisher = carrier;
    parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
    if (parallel_call->serial == 0) parallel_call->serial = carrier->next_serial++;
    return;
  }
  parallel_call->serial = carrier->next_serial++;
  self->last_parallel_call = parallel_call->serial;
  // Relaxed: a carrier that looks before its claim succeeds gets a hint; the claim orders the rest.
  parallel_call->root.store(self->root, std::memory_order_relaxed);
  parallel_call->publisher = carrier;
  parallel_call->pending.store(count - 1, std::memory_order_relaxed);
  parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
  assert(parallel_call->is_valid());
  // Only roots note their NUMA node here: a worker does when it has nothing to do.
  if (carrier->is_root() && carrier->is_listed() && pool().nodes.several())
    pool().nodes.note(carrier->index, current_numa_node());
  // Release: a claimer that reads this value, or one added to it, sees the fields above.
  parallel_call->claim.store(1 | (static_cast<uint64_t>(count) << 32), std::memory_order_release);

  // Where the table is full, no carrier finds the parallel call, this one neither: summon() sees to it.
  int top = carrier->open_top.load(std::memory_order_relaxed);
  while (top > 0 && carrier->open[top - 1].load(std::memory_order_relaxed) == nullptr) --top;
  int entry = 0;
  while (entry < top && carrier->open[entry].load(std::memory_order_relaxed) != nullptr) ++entry;
  const bool found = carrier->open.has_room_for(entry);
  if (found) {
    carrier->open[entry].store(parallel_call, std::memory_order_release);
    parallel_call->open_index = static_cast<int16_t>(entry);
  }
  // It is written only where it changes: others keep the cache line in their caches.
  const int new_top = entry == top && found ? top + 1 : top;
  if (carrier->open_top.load(std::memory_order_relaxed) != new_top)
    carrier->open_top.store(new_top, std::memory_order_release);
  if (__builtin_expect(parallel_call->open_index < 0, 0)) summon(parallel_call, count - 1);
  notify_claimers(parallel_call, self->root, 1);
}

void publish_again(ParallelCall* parallel_call, int count) noexcept {
  // The parallel call is over, so no carrier runs a member of it while the record serves the next one.
  assert(parallel_call->is_over());
  take_down(parallel_call);
  publish(parallel_call, count);
}

void withdraw(ParallelCall* parallel_call) noexcept {
  assert(parallel_call->is_valid());
  const uint64_t end = parallel_call->claim.load(std::memory_order_relaxed) >> 32;
  // From now on claims fail. Relaxed: only the publisher uses the result.
  const uint64_t seen = parallel_call->claim.exchange(end | end << 32, std::memory_order_relaxed);
  const auto next = static_cast<uint32_t>(seen);
  // Members that nobody has claimed need not be waited for. No sleeper has to be woken for that: the publisher is here.
  // Relaxed: join() acquires what the members have released, and this update stays in their release sequence.
  if (next < end) parallel_call->pending.fetch_sub(static_cast<int>(end - next), std::memory_order_relaxed);
}

bool join(ParallelCall* parallel_call, const std::atomic<bool>& stop) noexcept {
  Context* self = current_context();
  assert(parallel_call->is_valid());
  // Acquire: what the members have done is seen.
  const auto done = [parallel_call] { return parallel_call->pending.load(std::memory_order_acquire) == 0; };
  // Relaxed: `stop` only says that the caller has something to look at.
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
    // Before the carrier sleeps it runs members that nobody has claimed.
    const int index = unclaimed ? parallel_call->take() : -1;
    if (index < 0) {
      block_unless(over);
    } else if (!hand_over(self, parallel_call, index, Departure::block)) {
      run_here(self, parallel_call, index);
    } else if (stop.load(std::memory_order_relaxed)) {
      // Whoever has woken the caller may have done so for what it has to look at.
      break;
    }
  }
  if (!done()) return false;
  parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
  self->carrier->statistics.ends.add();
  take_down(parallel_call);
  return true;
}

}  // namespace weft::core
