// SPDX-License-Identifier: Apache-2.0
// Fork and join: a parallel call is published, its members are claimed, its publisher waits for the last of them.
#include "core/sched/fork_join.h"

#include <cassert>
#include <utility>

#include "core/context/free_contexts.h"
#include "core/sched/brief_calls.h"
#include "core/sched/call_passing.h"
#include "core/sched/gang.h"
#include "core/sched/pool.h"
#include "core/sched/ready.h"
#include "core/sched/scheduler.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::core {

namespace {

// `ended`: calls.
[[gnu::always_inline]] inline void finish(ParallelCall* parallel_call, int ended) noexcept {
  assert(parallel_call->pending.load(std::memory_order_relaxed) >= ended);
  if (parallel_call->pending.fetch_sub(ended) != ended) return;
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
  finish(parallel_call, 1);
  self->carrier->statistics.ends.add();
}

// By a claimer. A publication wakes one carrier; each wakes others as long as there are members: two where there are so
// many carriers that they are to come soon.
void call_more(ParallelCall* parallel_call, const Carrier* root) noexcept {
  constexpr int kFewSlots = 8;
  const int left = parallel_call->unclaimed();
  if (left > 0) notify_claimers(parallel_call, root, left > 1 && pool().settings.slots > kFewSlots ? 2 : 1);
}

// Whether the carrier may go on with `primary`, as if it had found it in its own list.
bool may_go_on_here(const Carrier* carrier, const Context* primary) noexcept {
  if (primary->carrier != carrier || (primary->home != nullptr && primary->home != carrier)) return false;
  if (primary->preferred != nullptr && primary->preferred != carrier) return false;
  return carrier->is_root() ? primary->root == carrier : pool().allowed(carrier);
}

// The last members of a call that the carrier has kept: nobody else is asked to go on with the primary, for which the
// carrier comes at once.
void end_kept(Context* self, ParallelCall* parallel_call, int ended) noexcept {
  Carrier* carrier = self->carrier;
  carrier->kept_call = {};
  if (parallel_call->pending.fetch_sub(ended) != ended) return;
  platform::full_fence_after_update();
  Context* sleeper = parallel_call->sleeper.load(std::memory_order_acquire);
  if (sleeper == nullptr) return;
  uint32_t expected = Token::suspended;
  if (!sleeper->token.compare_exchange_strong(expected, Token::none)) {
    unblock(sleeper);
    return;
  }
  if (!may_go_on_here(carrier, sleeper)) {
    make_ready(sleeper);
    return;
  }
  settle_call(carrier, work_of(sleeper), sleeper->home != nullptr);
  switch_counted(self, sleeper, Departure::idle);
}

// Members of a call that the carrier keeps, one after the other, as long as it keeps it. They are counted together, and
// they share an identity: each is over before the next one begins. Returns one that has been claimed and is still to be
// run; -1: there is none.
int run_kept(Context* self, ParallelCall* parallel_call, int index) noexcept {
  self->last_parallel_call = parallel_call->serial;
  self->root = parallel_call->root.load(std::memory_order_relaxed);
  self->parallel_call.store(parallel_call, std::memory_order_relaxed);
  int ended = 0;
  bool kept = true;
  while (kept && index >= 0) {
    self->carrier->statistics.calls.add();
    parallel_call->call(parallel_call, index);
    self->carrier->statistics.ends.add();
    ++ended;
    // It may be on another carrier by now, or others have been asked to help.
    if (self->carrier->kept_call.call == parallel_call) note_kept_member(self->carrier);
    kept = self->carrier->kept_call.call == parallel_call;
    // The record stays in this life until the calls that have ended are counted.
    index = parallel_call->take();
  }
  if (kept) {
    end_kept(self, parallel_call, ended);
  } else {
    finish(parallel_call, ended);
  }
  return index;
}

}  // namespace

void run_claimed(Context* self, ParallelCall* parallel_call, int index) noexcept {
  if (__builtin_expect(self->carrier->kept_call.call == parallel_call, 0)) index = run_kept(self, parallel_call, index);
  while (index >= 0) {
    if (self->last_parallel_call == parallel_call->serial && hand_over(self, parallel_call, index, Departure::idle))
      return;
    self->last_parallel_call = parallel_call->serial;
    self->root = parallel_call->root.load(std::memory_order_relaxed);
    self->parallel_call.store(parallel_call, std::memory_order_relaxed);
    call_more(parallel_call, self->root);
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
  Carrier* const root = std::exchange(self->root, parallel_call->root.load(std::memory_order_relaxed));
  call_more(parallel_call, self->root);
  run_here(self, parallel_call, index);
  self->root = root;
}

namespace {

// Nobody finds it any more.
void take_down(ParallelCall* parallel_call) noexcept {
  if (parallel_call->open_index < 0) return;
  parallel_call->publisher->open[static_cast<size_t>(parallel_call->open_index)].clear();
}

}  // namespace

void publish(ParallelCall* parallel_call, int count) noexcept {
  Context* self = current_context();
  Carrier* carrier = self->carrier;
  assert(parallel_call->is_over() && count >= 1);
  parallel_call->open_index = -1;
  if (count == 1) {
    // Nobody is to come, so nobody is told, and what all carriers share is left alone. The last life's claims are over.
    parallel_call->publisher = carrier;
    parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
    if (parallel_call->serial == 0) parallel_call->serial = carrier->next_serial++;
    return;
  }
  if (__builtin_expect(carrier->kept_call.call != nullptr, 0)) offer_kept(carrier);
  parallel_call->serial = carrier->next_serial++;
  self->last_parallel_call = parallel_call->serial;
  // Relaxed: a carrier that looks before its claim succeeds gets a hint; the claim orders the rest.
  parallel_call->root.store(self->root, std::memory_order_relaxed);
  parallel_call->publisher = carrier;
  parallel_call->published_ns = 0;
  parallel_call->pending.store(count - 1, std::memory_order_relaxed);
  parallel_call->sleeper.store(nullptr, std::memory_order_relaxed);
  assert(parallel_call->is_valid());
  // A worker notes it when it has nothing to do.
  if (carrier->is_root() && pool().nodes.several()) pool().nodes.note(carrier->index, current_numa_node());
  // Release: a claimer that reads this value, or one added to it, sees the fields above.
  parallel_call->claim.store(1 | (static_cast<uint64_t>(count) << 32), std::memory_order_release);

  const bool brief = count >= BriefFunctions::kLeastCalls && expects_brief(carrier, parallel_call);
  // In a full table nobody finds the parallel call, this carrier neither.
  int top = carrier->open_top.load(std::memory_order_relaxed);
  while (top > 0 && carrier->open[static_cast<size_t>(top) - 1].any() == nullptr) --top;
  int entry = 0;
  while (entry < top && carrier->open[static_cast<size_t>(entry)].any() != nullptr) ++entry;
  const bool listed = entry < kOpenCalls;
  if (listed) {
    OpenEntry& open = carrier->open[static_cast<size_t>(entry)];
    if (brief) {
      open.keep(parallel_call);
    } else {
      open.offer(parallel_call);
    }
    parallel_call->open_index = entry;
  }
  // Others keep its line while it is the same.
  const int new_top = entry == top && listed ? top + 1 : top;
  if (carrier->open_top.load(std::memory_order_relaxed) != new_top)
    carrier->open_top.store(new_top, std::memory_order_release);
  if (brief && listed) {
    carrier->kept_call = {parallel_call, 0, 0};
  } else {
    if (__builtin_expect(!listed, 0)) summon(parallel_call, count - 1);
    notify_claimers(parallel_call, self->root, 1);
  }
  // To learn whether the next one is brief: without what it takes to call others.
  if (count >= BriefFunctions::kLeastCalls) parallel_call->published_ns = platform::now_ns();
}

void publish_again(ParallelCall* parallel_call, int count) noexcept {
  // Without a call beside the publisher's own there is nobody whom the record's next life could surprise.
  assert(parallel_call->is_over());
  take_down(parallel_call);
  publish(parallel_call, count);
}

void withdraw(ParallelCall* parallel_call) noexcept {
  assert(parallel_call->is_valid());
  const uint64_t end = parallel_call->claim.load(std::memory_order_relaxed) >> 32;
  // From now on claims fail. Relaxed: the publisher alone reads what this does.
  const uint64_t seen = parallel_call->claim.exchange(end | end << 32, std::memory_order_relaxed);
  const auto next = static_cast<uint32_t>(seen);
  // The last call to end finds nobody asleep: the publisher is here. Relaxed: join() acquires what the calls have
  // released, and this update stays in their release sequence.
  if (next < end) parallel_call->pending.fetch_sub(static_cast<int>(end - next), std::memory_order_relaxed);
}

bool join(ParallelCall* parallel_call, const std::atomic<bool>& stop) noexcept {
  Context* self = current_context();
  assert(parallel_call->is_valid());
  if (parallel_call->published_ns != 0) note_own_member(self->carrier, parallel_call);
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
  if (self->carrier->kept_call.call == parallel_call) self->carrier->kept_call = {};
  take_down(parallel_call);
  return true;
}

}  // namespace weft::core
