// SPDX-License-Identifier: Apache-2.0
#include "core/sched/persistent_team.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "core/context/context_pool.h"
#include "core/sched/carrier.h"
#include "core/sched/free_contexts.h"
#include "core/sched/job_tokens.h"
#include "core/sched/pool.h"
#include "core/sched/spinning.h"

namespace weft::core {

namespace {

// libc gives each thread that allocates an area of its own, of 64 MiB of addresses, which count as a whole where the
// program locks its memory. To make a context allocates. So in such a program the owner makes ahead the contexts that
// carriers need while members wait: one for each carrier, which leaves one member for one other context at a time.
void stock_contexts() noexcept {
  const Pool& p = pool();
  if (!p.memory_is_locked.load(std::memory_order_relaxed)) return;
  Carrier* carrier = current_context()->carrier;
  if (carrier->is_listed()) stock_shelf(carrier, p.worker_count.load(std::memory_order_acquire) + 1);
}

}  // namespace

int PersistentTeam::reserve(int count) noexcept {
  assert(is_valid());
  // It is written only where it changes: the members keep the cache line in their caches.
  Context* const owner = current_context();
  if (owner_.load(std::memory_order_relaxed) != owner) owner_.store(owner, std::memory_order_relaxed);
  count = std::min(count, kMaxMembers);
  if (count > capacity_) {
    // The table may move: only the owner uses it, and the members themselves stay where they are.
    const int capacity = std::max(count, 2 * capacity_);
    auto** table = static_cast<PersistentMember**>(std::realloc(members_, sizeof(PersistentMember*) * capacity));
    if (table == nullptr) return size_;
    members_ = table;
    capacity_ = capacity;
  }
  want_workers(count);
  if (!has_spare()) return size_;
  if (size_ < count) want_cpus(count);
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
    member.asleep.store(WakeShare::asleep(sequence() / PostNumber::kStep), std::memory_order_relaxed);
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
  // A post that has come before the member's first run is still to be served, so `done` says what it has served.
  Served served{member.done.load(std::memory_order_relaxed), 0, 0};
  member.began_as_stub = member.context.load(std::memory_order_relaxed) == &member.stub;
  member.context.store(current_context(), std::memory_order_relaxed);
  persistent_team->rise(member);
  while (persistent_team->serve(member, served)) {
  }
}

// Waits for the next post or nudge and runs it. Returns false when the persistent team is dismissed.
bool PersistentTeam::serve(PersistentMember& member, Served& served) noexcept {
  // A nudge is for members between two posts. A member that has not received the present post yet, since its sender may
  // come late, does not follow the nudge: the work behind it could keep the member from what the team waits for.
  const auto called = [&] {
    return member.posted.load(std::memory_order_acquire) != served.posted ||
           (member.nudged.load(std::memory_order_acquire) != served.nudges &&
            member.done.load(std::memory_order_relaxed) == sequence());
  };
  const Context* self = current_context();
  while (!spin_until(self, called)) {
    member.asleep.store(WakeShare::asleep(served.posted / PostNumber::kStep), std::memory_order_relaxed);
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
    relay_post(member.index, member.members, member.post, posted);
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

// Waits until the member is done with the present post. Returns false when `stop` is set first; relaxed, as it only
// says that the caller has something to look at.
bool PersistentTeam::await(PersistentMember& member, const std::atomic<bool>& stop) noexcept {
  Context* self = current_context();
  const auto done = [&] { return member.done.load(std::memory_order_acquire) == sequence(); };
  const auto over = [&] { return done() || stop.load(std::memory_order_relaxed); };
  // For a member that no carrier runs yet it does not spin: this carrier may have to run it, or another one finds it
  // while this one sleeps.
  while (member.asleep.load(std::memory_order_relaxed) != 0 || !spin_until(self, over)) {
    sleeping_on_.store(member.index, std::memory_order_relaxed);
    platform::full_fence();
    block_unless(over);
    sleeping_on_.store(0, std::memory_order_relaxed);
    if (over()) break;
  }
  return done();
}

// Whether posts are to go by the tree. It needs a CPU for each member: one that is to relay the post and has no CPU
// keeps all of its recipients waiting.
[[gnu::noinline]] bool PersistentTeam::suits_tree() noexcept {
  Pool& p = pool();
  return always_by_tree || (!p.shares_its_cpus && !p.is_oversubscribed() &&
                            p.gate.load(std::memory_order_relaxed) == 0 && !p.lateness.any());
}

[[gnu::noinline]] void PersistentTeam::relay_post(int index, int count, const Post& words, uint64_t number) noexcept {
  if (!PostTree::relays(index, count)) return;
  PostTree::visit_recipients(index, count, [&](int other) {
    members_[other]->members = count;
    members_[other]->post.write(words);
  });
  PostTree::visit_recipients(index, count,
                             [&](int other) { members_[other]->posted.store(number, std::memory_order_release); });
  platform::full_fence();
  bool any_asleep = false;
  PostTree::visit_recipients(
      index, count, [&](int other) { any_asleep |= members_[other]->asleep.load(std::memory_order_relaxed) != 0; });
  if (__builtin_expect(any_asleep, 0)) launch_recipients(Recipients::by_tree(index, count), true);
}

// Whether members that have been woken are to wake others. Members that share CPUs, or whose waker has no CPU, come
// sooner when the sender wakes each of them.
[[gnu::noinline]] bool PersistentTeam::suits_shares() noexcept {
  return suits_tree() && (always_by_tree || pool().active_roots.load(std::memory_order_relaxed) <= 1);
}

[[gnu::noinline]] void PersistentTeam::launch_sleepers(int count, bool optional) noexcept {
  // No member is to depend on one that may be left out, so with an optional post members wake no others.
  if (!optional && count < PostTree::kLeastMembers) {
    launch_recipients(Recipients::by_owner(count), false);
    return;
  }
  for (int i = 1; i < count; ++i) launch_if_asleep(*members_[i]);
}

[[gnu::noinline]] void PersistentTeam::launch_recipients(const Recipients& recipients, bool by_tree) noexcept {
  if (recipients.size() > WakeShare::kMostByOne && suits_shares()) {
    launch_share(recipients, {0, recipients.size(), by_tree}, sequence());
    return;
  }
  for (int at = 0; at < recipients.size(); ++at) launch_if_asleep(*members_[recipients[at]]);
}

// Divides the share into parts. In each part the first member that sleeps is woken, and has to wake the rest of the
// part. The members of the rest have their post before it reads `asleep`, where the rest is written. So the fence of
// rise() holds for them as well: each sees its post, or is seen to sleep.
[[gnu::noinline]] void PersistentTeam::launch_share(const Recipients& recipients, const WakeShare& share,
                                                    uint64_t number) noexcept {
  share.visit_parts(recipients.relays(), [&](WakeShare rest) {
    while (rest.any()) {
      PersistentMember& member = *members_[recipients[rest.begin++]];
      uint32_t word = member.asleep.load(std::memory_order_relaxed);
      if (word == 0) continue;
      // A member that no carrier runs yet may come late, so it is not to wake others.
      const bool suits = !WakeShare::has_served(word, number / PostNumber::kStep) &&
                         member.context.load(std::memory_order_relaxed) != &member.stub;
      const bool asks = rest.any() && suits;
      // The exchange is a release: see above. Where it fails, the member has woken by itself and does not wake the
      // rest.
      const bool takes = asks && member.asleep.compare_exchange_strong(word, rest.word());
      if (asks && !takes) continue;
      launch(member.context.load(std::memory_order_relaxed));
      if (takes) return;
    }
  });
}

[[gnu::noinline]] void PersistentTeam::rise(PersistentMember& member) noexcept {
  const WakeShare share = WakeShare::of(member.asleep.exchange(0));
  if (__builtin_expect(!share.any(), 1)) return;
  platform::full_fence_after_update();
  // The sender has written `members` for this post.
  launch_share(share.by_tree ? Recipients::by_tree(PostTree::sender_of(member.index), member.members)
                             : Recipients::by_owner(PostTree::kLeastMembers),
               share, member.posted.load(std::memory_order_acquire));
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
    // A blocked context has been left completely; it is held while its stack is looked at, so that it stays so. A
    // context that has not been launched has used no stack. A member that waits in place gives its stack back itself.
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
