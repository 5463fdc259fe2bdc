// SPDX-License-Identifier: Apache-2.0
#include "core/sched/persistent_team.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "core/context/context_pool.h"
#include "core/sched/carrier.h"
#include "core/sched/free_contexts.h"
#include "core/sched/pool.h"
#include "core/sched/spinning.h"

namespace weft::core {

namespace {

// libc gives a thread that allocates an area of its own, of 64 MiB of addresses, which count as a whole where the
// program locks its memory. What makes a context allocates. So there the owner makes those ahead that carriers need
// while members wait: each leaves one member for one other context at a time.
void stock_contexts() noexcept {
  const Pool& p = pool();
  if (!p.memory_is_locked.load(std::memory_order_relaxed)) return;
  Carrier* carrier = current_context()->carrier;
  if (carrier->is_listed()) stock_shelf(carrier, p.worker_count.load(std::memory_order_acquire) + 1);
}

}  // namespace

int PersistentTeam::reserve(int count) noexcept {
  assert(is_valid());
  // Members keep its line while it is the same.
  Context* const owner = current_context();
  if (owner_.load(std::memory_order_relaxed) != owner) owner_.store(owner, std::memory_order_relaxed);
  count = std::min(count, kMaxMembers);
  if (count > capacity_) {
    // Members keep their addresses; only the owner uses this table.
    const int capacity = std::max(count, 2 * capacity_);
    auto** table = static_cast<PersistentMember**>(std::realloc(members_, sizeof(PersistentMember*) * capacity));
    if (table == nullptr) return size_;
    members_ = table;
    capacity_ = capacity;
  }
  want_workers(count);
  if (!has_spare()) return size_;
  const int size_before = size_;
  for (; size_ < count; ++size_) {
    if (size_ == made_) {
      members_[made_] = new (std::nothrow) PersistentMember;
      if (members_[made_] == nullptr) break;
      ++made_;
    }
    PersistentMember& member = *members_[size_];
    member.persistent_team = this;
    member.index = size_;
    member.posted.store(sequence(), std::memory_order_relaxed);
    member.done.store(sequence(), std::memory_order_relaxed);
    member.asleep.store(Wards::asleep(sequence() / PostNumber::kStep), std::memory_order_relaxed);
    Context* context = &member.stub;
    if (!make_bodiless(context, member_main, &member, size_)) context = make_context(member_main, &member, size_);
    if (context == nullptr) break;
    context->parallel_call.store(parallel_call_, std::memory_order_relaxed);
    member.context.store(context, std::memory_order_relaxed);
  }
  if (size_ > size_before) stock_contexts();
  return std::min(size_, count);
}

void PersistentTeam::member_main(void* argument) {
  auto& member = *static_cast<PersistentMember*>(argument);
  PersistentTeam* persistent_team = member.persistent_team;
  // What was posted before the first run is still to be served.
  Served served{member.done.load(std::memory_order_relaxed), 0, 0};
  member.began_as_stub = member.context.load(std::memory_order_relaxed) == &member.stub;
  member.context.store(current_context(), std::memory_order_relaxed);
  persistent_team->rise(member);
  while (persistent_team->serve(member, served)) {
  }
}

// Waits for the next post or nudge and runs it; false when the persistent team is dismissed.
bool PersistentTeam::serve(PersistentMember& member, Served& served) noexcept {
  // A nudge is for members between two posts. One that is still to be told of the present post, by a member that may
  // come late, has no time: what it was nudged for could keep it from what others wait for.
  const auto called = [&] {
    return member.posted.load(std::memory_order_acquire) != served.posted ||
           (member.nudged.load(std::memory_order_acquire) != served.nudges &&
            member.done.load(std::memory_order_relaxed) == sequence());
  };
  const Context* self = current_context();
  while (!spin_until(self, called)) {
    member.asleep.store(Wards::asleep(served.posted / PostNumber::kStep), std::memory_order_relaxed);
    platform::full_fence();
    block_unless(called);
    rise(member);
  }
  const uint64_t posted = member.posted.load(std::memory_order_acquire);
  if (posted == served.posted) {
    served.nudges = member.nudged.load(std::memory_order_acquire);
    nudge_(this, member.index, member.post);
    return true;
  }
  served.posted = posted;
  if (PostNumber::is(posted, PostNumber::optional)) {
    member.post.fetch_ahead();
    if (!member.take(posted, std::exchange(served.taken, posted))) return true;
  }
  if (__builtin_expect(PostNumber::is(posted, PostNumber::by_tree), 0))
    tell_others(member.index, member.members, member.post, posted);
  const bool last = dismissed_;
  if (!last) call_(this, member.index, member.post);
  // When it is done, the member's record may begin another life.
  if (last && member.began_as_stub) release_bodiless(&member.stub);
  const int index = member.index;
  self->carrier->statistics.ends.add();
  member.done.store(posted, std::memory_order_release);
  platform::full_fence();
  if (sleeping_on_.load(std::memory_order_relaxed) == index) unblock(owner_.load(std::memory_order_relaxed));
  return !last;
}

// False when `stop` is set first. Relaxed: it says that there is something to look at.
bool PersistentTeam::await(PersistentMember& member, const std::atomic<bool>& stop) noexcept {
  Context* self = current_context();
  const auto done = [&] { return member.done.load(std::memory_order_acquire) == sequence(); };
  const auto over = [&] { return done() || stop.load(std::memory_order_relaxed); };
  // A member that nobody runs yet wants this carrier, or will be found by another one while we sleep.
  while (member.asleep.load(std::memory_order_relaxed) != 0 || !spin_until(self, over)) {
    sleeping_on_.store(member.index, std::memory_order_relaxed);
    platform::full_fence();
    block_unless(over);
    sleeping_on_.store(0, std::memory_order_relaxed);
    if (over()) break;
  }
  return done();
}

// A member that tells others and has no CPU keeps all of these waiting.
[[gnu::noinline]] bool PersistentTeam::suits_tree() noexcept {
  Pool& p = pool();
  return always_by_tree || (!p.shares_its_cpus && !p.is_oversubscribed() &&
                            p.gate.load(std::memory_order_relaxed) == 0 && !p.lateness.any());
}

[[gnu::noinline]] void PersistentTeam::tell_others(int index, int count, const Post& words, uint64_t number) noexcept {
  if (!PostTree::tells(index, count)) return;
  PostTree::visit_told(index, count, [&](int other) {
    members_[other]->members = count;
    members_[other]->post.write(words);
  });
  PostTree::visit_told(index, count,
                       [&](int other) { members_[other]->posted.store(number, std::memory_order_release); });
  platform::full_fence();
  bool any_asleep = false;
  PostTree::visit_told(index, count,
                       [&](int other) { any_asleep |= members_[other]->asleep.load(std::memory_order_relaxed) != 0; });
  if (__builtin_expect(any_asleep, 0)) launch_told(Told::by_tree(index, count), true);
}

// Many that share CPUs, or whose first has none, come sooner when each is called for itself.
[[gnu::noinline]] bool PersistentTeam::suits_wards() noexcept {
  return suits_tree() && (always_by_tree || pool().active_roots.load(std::memory_order_relaxed) <= 1);
}

[[gnu::noinline]] void PersistentTeam::launch_sleepers(int count, bool optional) noexcept {
  // A member that may be left out is not to be waited for, not by others that sleep either.
  if (!optional && count < PostTree::kLeastMembers) {
    launch_told(Told::by_owner(count), false);
    return;
  }
  for (int i = 1; i < count; ++i) launch_if_asleep(*members_[i]);
}

[[gnu::noinline]] void PersistentTeam::launch_told(const Told& told, bool by_tree) noexcept {
  if (told.size() > Wards::kMostByOne && suits_wards()) {
    launch_wards(told, {0, told.size(), by_tree}, sequence());
    return;
  }
  for (int at = 0; at < told.size(); ++at) launch_if_asleep(*members_[told[at]]);
}

// Of each part the first that sleeps gets the rest. What it is to unblock has been told before it finds its word
// changed; so with the fence of rise() one of the two sees the other there too.
[[gnu::noinline]] void PersistentTeam::launch_wards(const Told& told, const Wards& wards, uint64_t number) noexcept {
  wards.visit_parts(told.tellers(), [&](Wards rest) {
    while (rest.any()) {
      PersistentMember& member = *members_[told[rest.begin++]];
      uint32_t word = member.asleep.load(std::memory_order_relaxed);
      if (word == 0) continue;
      // A member that nobody runs yet may come late.
      const bool suits = !Wards::has_served(word, number / PostNumber::kStep) &&
                         member.context.load(std::memory_order_relaxed) != &member.stub;
      const bool asks = rest.any() && suits;
      // Release: see above. It has woken by itself where that fails, and knows nothing of the others.
      const bool takes = asks && member.asleep.compare_exchange_strong(word, rest.word());
      if (asks && !takes) continue;
      launch(member.context.load(std::memory_order_relaxed));
      if (takes) return;
    }
  });
}

[[gnu::noinline]] void PersistentTeam::rise(PersistentMember& member) noexcept {
  const Wards wards = Wards::of(member.asleep.exchange(0));
  if (__builtin_expect(!wards.any(), 1)) return;
  platform::full_fence_after_update();
  // Who told it has counted the members of the same post.
  launch_wards(wards.by_tree ? Told::by_tree(PostTree::teller_of(member.index), member.members)
                             : Told::by_owner(PostTree::kLeastMembers),
               wards, member.posted.load(std::memory_order_acquire));
}

void PersistentTeam::launch_asleep(int count) noexcept {
  Context* first = nullptr;
  Context** link = &first;
  for (int i = 1; i < count; ++i) {
    if (members_[i]->asleep.load(std::memory_order_relaxed) == 0) continue;
    Context* context = members_[i]->context.load(std::memory_order_relaxed);
    if (!take_to_launch(context)) continue;
    context->next = nullptr;
    *link = context;
    link = &context->next;
  }
  launch_together(first);
}

void PersistentTeam::nudge(int index) noexcept {
  PersistentMember& member = *members_[index];
  member.nudged.fetch_add(1, std::memory_order_release);
  platform::full_fence();
  if (member.asleep.load(std::memory_order_relaxed) != 0) unblock(member.context.load(std::memory_order_relaxed));
}

int PersistentTeam::trim() noexcept {
  int awake = 0;
  for (int i = 1; i < size_; ++i) {
    Context* context = members_[i]->context.load(std::memory_order_relaxed);
    // Blocked, it is left and complete; held, it stays so while its stack is looked at. A context that has not been
    // launched has used none. A member that waits in place is asked for it.
    if (hold(context)) {
      trim_stack(context);
      let_go(context);
      continue;
    }
    const uint32_t token = context->token.load();
    if (token != Token::held && token != Token::resting) ++awake;
  }
  return awake;
}

void PersistentTeam::dismiss() noexcept {
  if (size_ == 1) return;
  dismissed_ = true;
  start(size_, {});
  finish();
  dismissed_ = false;
  size_ = 1;
  count_ = 1;
}

}  // namespace weft::core
