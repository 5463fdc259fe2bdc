// SPDX-License-Identifier: Apache-2.0
// A persistent team: contexts that stay together from one call to the next, so that call i always runs on the same
// context. Made for the outermost teams of a root: no claim, no switch, one cache line each way.
//
// Protocol of one post, by member i of the team, on its lines i:
//   the owner   writes `words`, then `posted` = n (release); after all lines one full fence, then it looks
//               at each `asleep` and unblocks those that are. In a large team it does so for some, and each of
//               these for others before it runs (PostTree). Of several that sleep it unblocks a few, and exchanges
//               their `asleep` for what others these are to unblock as soon as they are awake (WakeShare)
//   the member  waits for `posted` == n (acquire), runs, then writes `done` = n (release), a full fence,
//               and unblocks the owner if that sleeps on i
// An optional post (start_optional) is the member's only when it has claimed it: of the member that begins and the
// owner that has no use for it any more, one puts the post's number into `taken`. A number there that is as high makes
// a claim that comes late fail. What is withdrawn counts as done; the member looks at nothing else of it. A side that
// stops spinning announces it (`asleep`, `sleeping_on`), fences, and looks once more. The other side fences between its
// store and its look at the announcement. So one of the two sees the other.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>

#include "core/context/context.h"
#include "core/sched/blocking.h"
#include "core/sched/parallel_call.h"
#include "core/sched/post.h"
#include "core/sched/post_tree.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "platform/fence.h"

namespace weft::core {

class PersistentTeam;

// Runs a member's call. `index` counts from 1; the owner itself is 0.
using PersistentCall = void (*)(PersistentTeam* persistent_team, int index, const Post& post);

// The number of a post: posts count in steps of four, and the two lowest bits say of what kind the post is.
struct PostNumber {
  enum Kind : uint64_t { plain, optional, by_tree };
  static constexpr uint64_t kStep = 4;

  static constexpr bool is(uint64_t number, Kind kind) noexcept { return number % kStep == kind; }
  static constexpr uint64_t next(uint64_t number, Kind kind) noexcept { return number - number % kStep + kStep + kind; }
};

struct PersistentMember {
  alignas(64) std::atomic<uint64_t> posted{0};  // a number of PostNumber
  std::atomic<uint32_t> nudged{0};  // counts calls to come and look, outside of a post
  int members = 0;  // in a post by a tree: how many the team has. Written before `posted` like the words
  Post post{};

  // The number of the last post that has ended. The member writes it; of a post that is withdrawn, the owner does.
  alignas(64) std::atomic<uint64_t> done{0};
  // Read at each post, written when the member falls asleep or wakes: 0, or a word of WakeShare, which the thread that
  // is about to wake it may exchange for another.
  alignas(64) std::atomic<uint32_t> asleep{WakeShare::asleep(0)};
  // The context that runs the member: `stub` until it has begun under a worker's identity. Relaxed: it is read after
  // `asleep`, and there is a fence between this and the post on both sides. So an owner that still sees the stub has
  // not seen the member fall asleep again.
  std::atomic<Context*> context{nullptr};
  alignas(64) Context stub;

  // The number of the last optional post that has been claimed or withdrawn. The owner looks at it only while the
  // member is not done, so the cache line mostly stays with the member.
  alignas(64) std::atomic<uint64_t> taken{0};
  bool began_as_stub = false;  // touched by the member only
  PersistentTeam* persistent_team = nullptr;
  int index = 0;

  // Called by the member that begins an optional post, and by the owner that withdraws it. Returns whether the caller
  // was the first. Relaxed: only the number is passed. The member has acquired the words with the post; the owner reads
  // nothing of a member that has not begun, and waits for one that has. `last`: the number that the caller believes to
  // stand there, since to look first would fetch the cache line twice.
  bool take(uint64_t number, uint64_t last) noexcept {
    while (last < number) {
      if (taken.compare_exchange_weak(last, number, std::memory_order_relaxed)) return true;
    }
    return false;
  }
};

class PersistentTeam {
 public:
  static constexpr int kMaxMembers = kMaxPersistentMembers;
  // For tests: large teams post by a tree also where members may have no CPU.
  static inline bool always_by_tree = false;

  // `call` runs each post; `nudge` what a member does when it has been nudged between posts.
  // Neither allocates nor starts anything yet.
  // `parallel_call`: what the monitor takes the posts for, if anything (core/sched/gang_regions.h).
  PersistentTeam(PersistentCall call, PersistentCall nudge, void* owner_data,
                 const ParallelCall* parallel_call = nullptr) noexcept
      : call_(call), nudge_(nudge), owner_data_(owner_data), parallel_call_(parallel_call) {}
  PersistentTeam(const PersistentTeam&) = delete;
  PersistentTeam& operator=(const PersistentTeam&) = delete;

  // Makes members 1 .. count-1. Returns how many members (the owner included) there are at most `count`:
  // fewer when the system refuses threads. Only between posts, by the owner.
  int reserve(int count) noexcept;

  // Gives back the memory of the stacks of members that are asleep. Returns how many members were not. Only between
  // posts, by the owner.
  int trim() noexcept;

  const PersistentMember& member(int index) const noexcept { return *members_[index]; }
  // For inspectors (core/monitor/inspection.h).
  const PersistentMember* const* members() const noexcept { return members_; }
  void* owner_data() const noexcept { return owner_data_; }

  // Lets members 1 .. count-1 run their calls with `words`. Called by the owner.
  void start(int count, const Post& words) noexcept { post(count, words, false); }

  // The same with an optional post: members that have not begun can be left out later, by withdraw().
  void start_optional(int count, const Post& words) noexcept { post(count, words, true); }

  // Takes back what start_optional() has posted to the next member, in ascending order, that has not begun. That member
  // counts as finished then. Returns its index; 0: all members left have begun, or the post was one of start(). Called
  // by the owner.
  int withdraw_next() noexcept {
    while (open_ < count_) {
      const int index = open_++;
      PersistentMember& member = *members_[index];
      // Relaxed: finish() looks again.
      if (member.done.load(std::memory_order_relaxed) == sequence()) continue;
      if (!member.take(sequence(), member.taken.load(std::memory_order_relaxed))) continue;
      // The member does not write this unless it has claimed the post. Release: a member of this team that looks for
      // idle ones acquires it.
      member.done.store(sequence(), std::memory_order_release);
      return index;
    }
    return 0;
  }

  // The same for all members.
  void withdraw() noexcept {
    while (withdraw_next() != 0) {
    }
  }

  // Waits until all members of the last start() are done. Returns false, before that, when `stop` is set; the thread
  // that sets it has to call call_owner() then.
  bool finish(const std::atomic<bool>& stop = kNever) noexcept {
    for (int i = 1; i < count_; ++i) {
      PersistentMember& member = *members_[i];
      if (member.done.load(std::memory_order_acquire) != sequence() && !await(member, stop)) return false;
    }
    return true;
  }

  // The same, but waits by `wait(done)`, which has to return when done() holds; the owner is unblocked for that.
  template <class Wait>
  void finish_by(Wait&& wait) noexcept {
    for (int i = 1; i < count_; ++i) {
      PersistentMember& member = *members_[i];
      const auto done = [&] { return member.done.load(std::memory_order_acquire) == sequence(); };
      if (done()) continue;
      sleeping_on_.store(i, std::memory_order_relaxed);
      platform::full_fence();
      wait(done);
      sleeping_on_.store(0, std::memory_order_relaxed);
    }
  }

  // Wakes the owner if it sleeps in finish(). Called by any thread, after a fence.
  void call_owner() noexcept {
    if (sleeping_on_.load(std::memory_order_relaxed) != 0) unblock(owner_.load(std::memory_order_relaxed));
  }

  // Whether a member has nothing to do, since it has served the post that the caller, another member, serves. A member
  // that has not got this post yet has not finished.
  bool has_finished(int index) const noexcept {
    // Acquire: the caller may count on what the member has done.
    return members_[index]->done.load(std::memory_order_acquire) == sequence();
  }

  // Asks a member that has nothing to do to run the nudge call. A member that is busy does it later.
  void nudge(int index) noexcept;

  // Ends the members; their contexts are free again. Called by the owner, between posts.
  void dismiss() noexcept;

 private:
  // For assertions of the owner, between posts.
  bool is_valid() const noexcept {
    if (size_ < 1 || size_ > made_ || count_ > size_ || made_ > (capacity_ > 1 ? capacity_ : 1)) return false;
    for (int i = 1; i < count_; ++i) {
      if (members_[i]->done.load(std::memory_order_relaxed) != sequence()) return false;
    }
    return true;
  }

  void post(int count, const Post& words, bool optional) noexcept {
    assert(is_valid() && count <= size_);
    const bool gang = parallel_call_ != nullptr && parallel_call_->gang.load(std::memory_order_relaxed);
    // A gang's members are all launched at once by the owner; and no member is to depend on one that may be left out.
    const bool by_tree = __builtin_expect(count >= PostTree::kLeastMembers, 0) && !optional && !gang && suits_tree();
    const uint64_t number = PostNumber::next(sequence(), by_tree    ? PostNumber::by_tree
                                                         : optional ? PostNumber::optional
                                                                    : PostNumber::plain);
    sequence_.store(number, std::memory_order_relaxed);
    count_ = count;
    open_ = optional ? 1 : count;
    if (by_tree) {
      relay_post(0, count, words, number);
      return;
    }
    // The words are written first, for all members, so that the cache misses overlap.
    for (int i = 1; i < count; ++i) members_[i]->post.write(words);
    for (int i = 1; i < count; ++i) members_[i]->posted.store(number, std::memory_order_release);
    platform::full_fence();
    if (__builtin_expect(gang, 0)) {
      launch_asleep(count);
      return;
    }
    for (int i = 1; i < count; ++i) {
      if (members_[i]->asleep.load(std::memory_order_relaxed) == 0) continue;
      launch_sleepers(count, optional);
      break;
    }
  }

  // Wakes the member if it sleeps. The first post launches its context.
  static void launch_if_asleep(const PersistentMember& member) noexcept {
    if (member.asleep.load(std::memory_order_relaxed) != 0) launch(member.context.load(std::memory_order_relaxed));
  }

  // Called by the owner, which has posted to all members itself: wakes those that sleep.
  void launch_sleepers(int count, bool optional) noexcept;
  // Wakes the recipients of the caller that sleep; or some of them, which then have to wake the others.
  void launch_recipients(const Recipients& recipients, bool by_tree) noexcept;
  // Wakes a few members of the share; each of these has to wake a part of the others. `number`: of the post.
  void launch_share(const Recipients& recipients, const WakeShare& share, uint64_t number) noexcept;
  // Called by a member that has woken: it sleeps no more, and wakes the share that was left to it.
  void rise(PersistentMember& member) noexcept;

  // Sends the post to the recipients of member `index`, the caller: the owner, or one that has just received it.
  void relay_post(int index, int count, const Post& words, uint64_t number) noexcept;

  // What a member has served last.
  struct Served {
    uint64_t posted;
    uint64_t taken;  // its last claim
    uint32_t nudges;
  };

  uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }
  static bool suits_tree() noexcept;
  static bool suits_shares() noexcept;
  static void member_main(void* member);
  void launch_asleep(int count) noexcept;
  bool serve(PersistentMember& member, Served& served) noexcept;
  bool await(PersistentMember& member, const std::atomic<bool>& stop) noexcept;

  // The members read these fields at each post, or write them when they fall asleep.
  alignas(64) const PersistentCall call_;
  const PersistentCall nudge_;
  void* const owner_data_;
  const ParallelCall* const parallel_call_;
  // Atomic, since a member of the last owner's persistent team may look late; then it wakes the new owner in vain.
  std::atomic<Context*> owner_{nullptr};
  std::atomic<int> sleeping_on_{0};
  bool dismissed_ = false;
  PersistentMember** members_ = nullptr;

  // The owner writes the fields below at each post. They are on a cache line of their own, so that the members keep the
  // line above.
  // The number of the last post. Only the owner writes it. Relaxed: a member that is nudged reads it at any time; what
  // a member reads after a post is ordered by that.
  alignas(64) std::atomic<uint64_t> sequence_{0};
  int count_ = 1;
  int open_ = 1;  // no member before this one can be withdrawn
  int size_ = 1;  // members that have a context
  int made_ = 1;  // records made; those of dismissed members serve again
  int capacity_ = 0;
};

}  // namespace weft::core
