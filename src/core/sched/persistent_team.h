// SPDX-License-Identifier: Apache-2.0
// A persistent team: contexts that stay together from one call to the next, so that call i always runs on the same
// context. Made for the outermost teams of a root: no claim, no switch, one cache line each way.
//
// Protocol of one post, by member i of the team, on its lines i:
//   the owner   writes `words`, then `posted` = n (release); after all lines one full fence, then it looks
//               at each `asleep` and unblocks those that are. In a large team it does so for some, and each of
//               these for others before it runs (PostTree). Of several that sleep it unblocks a few, and exchanges
//               their `asleep` for what others these are to unblock as soon as they are awake (Wards)
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

// Posts count in steps of four; the rest says of what kind the post is.
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

  // The number of the last post that has ended. The member's; of a withdrawn one the owner's.
  alignas(64) std::atomic<uint64_t> done{0};
  // Read at each post, written when the member falls asleep or wakes: 0, or a word of Wards, which the thread that is
  // about to wake it may exchange for another.
  alignas(64) std::atomic<uint32_t> asleep{Wards::asleep(0)};
  // The context that runs it: `stub` until it has begun under a worker's identity. Relaxed: read behind `asleep`, with
  // a fence between this and the post on both sides; an owner that still sees the stub then has not seen the member
  // fall asleep.
  std::atomic<Context*> context{nullptr};
  alignas(64) Context stub;

  // Of the last optional post that has been claimed or withdrawn. The owner looks only while the member is not done: so
  // the line mostly stays the member's.
  alignas(64) std::atomic<uint64_t> taken{0};
  bool began_as_stub = false;  // touched by the member only
  PersistentTeam* persistent_team = nullptr;
  int index = 0;

  // By the member that begins an optional post, or by the owner that withdraws it: whether the caller was the first.
  // Relaxed: the number is all that passes. The member reads the words behind it, and has seen them with the post; the
  // owner reads nothing of a member that has not begun, and waits for one that has.
  // `last`: what the caller believes to stand there, since to look first would fetch the line twice.
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

  // Gives back the memory of the stacks of members that are asleep. Only between posts, by the owner. How many were
  // not.
  int trim() noexcept;

  const PersistentMember& member(int index) const noexcept { return *members_[index]; }
  void* owner_data() const noexcept { return owner_data_; }

  // Members 1 .. count-1 run their calls with `words`. By the owner.
  void start(int count, const Post& words) noexcept { post(count, words, false); }

  // The same for members that may be left out: see withdraw().
  void start_optional(int count, const Post& words) noexcept { post(count, words, true); }

  // Takes back what start_optional() has posted to the next member that has not begun, in ascending order. It counts as
  // finished then. Its index, or 0: all the others have begun, or the post was one of start(). By the owner.
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

  // Waits until all members of the last start() are done. False, before that, when `stop` is set; the
  // thread that sets it then calls call_owner().
  bool finish(const std::atomic<bool>& stop = kNever) noexcept {
    for (int i = 1; i < count_; ++i) {
      PersistentMember& member = *members_[i];
      if (member.done.load(std::memory_order_acquire) != sequence() && !await(member, stop)) return false;
    }
    return true;
  }

  // The same by `wait(done)`, which returns when done() holds, and is unblocked for that.
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

  // By anybody, after a fence.
  void call_owner() noexcept {
    if (sleeping_on_.load(std::memory_order_relaxed) != 0) unblock(owner_.load(std::memory_order_relaxed));
  }

  // Whether a member has nothing to do, since it has served the post that the caller, one of them, serves: its own may
  // be still to come.
  bool has_finished(int index) const noexcept {
    // Acquire: the caller may count on what the member has done.
    return members_[index]->done.load(std::memory_order_acquire) == sequence();
  }

  // Asks a member that has nothing to do to run the nudge call. A member that is busy does it later.
  void nudge(int index) noexcept;

  // The members end and their contexts are free again. By the owner, between posts.
  void dismiss() noexcept;

 private:
  // Between posts, for the owner.
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
    // A gang is launched at once, and a member that may be left out is not to be waited for.
    const bool by_tree = __builtin_expect(count >= PostTree::kLeastMembers, 0) && !optional && !gang && suits_tree();
    const uint64_t number = PostNumber::next(sequence(), by_tree    ? PostNumber::by_tree
                                                         : optional ? PostNumber::optional
                                                                    : PostNumber::plain);
    sequence_.store(number, std::memory_order_relaxed);
    count_ = count;
    open_ = optional ? 1 : count;
    if (by_tree) {
      tell_others(0, count, words, number);
      return;
    }
    // All words first: the cache misses overlap.
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

  // The first post launches it.
  static void launch_if_asleep(const PersistentMember& member) noexcept {
    if (member.asleep.load(std::memory_order_relaxed) != 0) launch(member.context.load(std::memory_order_relaxed));
  }

  // Those that sleep, by the owner.
  void launch_sleepers(int count, bool optional) noexcept;
  // Those that the caller has told, and that sleep.
  void launch_told(const Told& told, bool by_tree) noexcept;
  // Some of them, and they the others. `number`: of the post.
  void launch_wards(const Told& told, const Wards& wards, uint64_t number) noexcept;
  // The member is awake.
  void rise(PersistentMember& member) noexcept;

  // By the owner, or by a member that has been told by another.
  void tell_others(int index, int count, const Post& words, uint64_t number) noexcept;

  // By a member: what it has looked at last.
  struct Served {
    uint64_t posted;
    uint64_t taken;  // its last claim
    uint32_t nudges;
  };

  uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }
  static bool suits_tree() noexcept;
  static bool suits_wards() noexcept;
  static void member_main(void* member);
  void launch_asleep(int count) noexcept;
  bool serve(PersistentMember& member, Served& served) noexcept;
  bool await(PersistentMember& member, const std::atomic<bool>& stop) noexcept;

  // What members read at each post, or write when they sleep.
  alignas(64) const PersistentCall call_;
  const PersistentCall nudge_;
  void* const owner_data_;
  const ParallelCall* const parallel_call_;
  // Atomic, since a member of the last owner's persistent team may look late; then it wakes somebody for nothing.
  std::atomic<Context*> owner_{nullptr};
  std::atomic<int> sleeping_on_{0};
  bool dismissed_ = false;
  PersistentMember** members_ = nullptr;

  // What the owner writes at each post: on a line of its own, so that members keep theirs.
  // Of the last post. Written by the owner alone; relaxed: a member that has a nudge looks at any time, and what it
  // reads behind a post is ordered by that.
  alignas(64) std::atomic<uint64_t> sequence_{0};
  int count_ = 1;
  int open_ = 1;  // no member before this one can be withdrawn
  int size_ = 1;  // members that have a context
  int made_ = 1;  // records made; those of dismissed members serve again
  int capacity_ = 0;
};

}  // namespace weft::core
