// SPDX-License-Identifier: Apache-2.0
// A persistent team: contexts that stay together from one call to the next, so that call i always runs on the same
// context. Made for the outermost teams of a root: no claim, no switch, one cache line each way.
//
// Protocol of one post, by member i of the team, on its lines i:
//   the owner   writes `words`, then `posted` = n (release); after all lines one full fence, then it looks
//               at each `asleep` and unblocks those that are
//   the member  waits for `posted` == n (acquire), runs, then writes `done` = n (release), a full fence,
//               and unblocks the owner if that sleeps on i
// An optional post (start_optional) is the member's only when it has claimed it: the member changes `posted` from open
// to claimed before it runs, the owner from open to withdrawn when it has no use for the member any more. The number in
// `posted` makes a claim that comes late fail. What is withdrawn counts as done; the member looks at nothing else of
// it. A side that stops spinning announces it (`asleep`, `sleeping_on`), fences, and looks once more. The other side
// fences between its store and its look at the announcement. So one of the two sees the other.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "core/context/context.h"
#include "core/sched/scheduler.h"
#include "platform/fence.h"

namespace weft::core {

class PersistentTeam;

// What the owner tells a member; the meaning is the owner's.
struct Post {
  static constexpr int kWords = 6;
  void* words[kWords];
};

// Runs a member's call. `index` counts from 1; the owner itself is 0.
using PersistentCall = void (*)(PersistentTeam* persistent_team, int index, const Post& post);

// Posts count in steps of four; the rest says what has become of an optional one.
struct PostNumber {
  static constexpr uint64_t kStep = 4;
  static constexpr uint64_t kOpen = 1;
  static constexpr uint64_t kClaimed = 2;
  static constexpr uint64_t kWithdrawn = 3;

  static constexpr uint64_t state(uint64_t number) noexcept { return number % kStep; }
  static constexpr uint64_t with(uint64_t number, uint64_t state) noexcept { return number - number % kStep + state; }
};

struct PersistentMember {
  alignas(64) std::atomic<uint64_t> posted{0};  // a number of PostNumber
  std::atomic<uint32_t> nudged{0};  // counts calls to come and look, outside of a post
  Post post{};

  // The number of the last post, as it was posted. The member's; of a withdrawn one the owner's.
  alignas(64) std::atomic<uint64_t> done{0};

  // Read at each post, written when the member falls asleep or wakes.
  alignas(64) std::atomic<uint32_t> asleep{1};
  // The context that runs it: `stub` until it has begun under a worker's identity. Relaxed: read behind `asleep`, with
  // a fence between this and the post on both sides; an owner that still sees the stub then has not seen the member
  // fall asleep.
  std::atomic<Context*> context{nullptr};
  alignas(64) Context stub;
  bool began_as_stub = false;  // touched by the member only
  PersistentTeam* persistent_team = nullptr;
  int index = 0;
};

class PersistentTeam {
 public:
  static constexpr int kMaxMembers = 4096;

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

  PersistentMember& member(int index) noexcept { return *members_[index]; }
  void* owner_data() const noexcept { return owner_data_; }

  // The owner writes `member(i).post` for 1 <= i < count, then calls this.
  void start(int count) noexcept { post(count, 0); }

  // The same for members that may be left out: see withdraw().
  void start_optional(int count) noexcept { post(count, PostNumber::kOpen); }

  // Takes back what start_optional() has posted to members that have not begun. They count as finished. A post of
  // start() stays.
  void withdraw() noexcept {
    if (PostNumber::state(sequence_) != PostNumber::kOpen) return;
    for (int i = 1; i < count_; ++i) {
      PersistentMember& member = *members_[i];
      uint64_t open = sequence_;
      // Relaxed: nothing of a member that has not begun is read. One that has begun is waited for.
      if (member.posted.load(std::memory_order_relaxed) != open ||
          !member.posted.compare_exchange_strong(open, PostNumber::with(sequence_, PostNumber::kWithdrawn),
                                                 std::memory_order_relaxed)) {
        continue;
      }
      // The member does not write this line unless it has claimed the post. Release: a member of this team that looks
      // for idle ones acquires it.
      member.done.store(sequence_, std::memory_order_release);
    }
  }

  // Waits until all members of the last start() are done. False, before that, when `stop` is set; the
  // thread that sets it then calls call_owner().
  bool finish(const std::atomic<bool>& stop = kNever) noexcept {
    for (int i = 1; i < count_; ++i) {
      PersistentMember& member = *members_[i];
      if (member.done.load(std::memory_order_acquire) != sequence_ && !await(member, stop)) return false;
    }
    return true;
  }

  // The same by `wait(done)`, which returns when done() holds, and is unblocked for that.
  template <class Wait>
  void finish_by(Wait&& wait) noexcept {
    for (int i = 1; i < count_; ++i) {
      PersistentMember& member = *members_[i];
      const auto done = [&] { return member.done.load(std::memory_order_acquire) == sequence_; };
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
    return members_[index]->done.load(std::memory_order_acquire) == sequence_;
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
      if (members_[i]->done.load(std::memory_order_relaxed) != sequence_) return false;
    }
    return true;
  }

  void post(int count, uint64_t state) noexcept {
    assert(is_valid() && count <= size_);
    sequence_ = PostNumber::with(sequence_ + PostNumber::kStep, state);
    count_ = count;
    for (int i = 1; i < count; ++i) members_[i]->posted.store(sequence_, std::memory_order_release);
    platform::full_fence();
    if (__builtin_expect(parallel_call_ != nullptr && parallel_call_->gang.load(std::memory_order_relaxed), 0)) {
      launch_asleep(count);
      return;
    }
    for (int i = 1; i < count; ++i) {
      // The first post launches it.
      if (members_[i]->asleep.load(std::memory_order_relaxed) != 0)
        launch(members_[i]->context.load(std::memory_order_relaxed));
    }
  }

  static void member_main(void* member);
  void launch_asleep(int count) noexcept;
  bool serve(PersistentMember& member, uint64_t& seen, uint32_t& nudges) noexcept;
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
  alignas(64) uint64_t sequence_ = 0;  // of the last post
  int count_ = 1;
  int size_ = 1;  // members that have a context
  int made_ = 1;  // records made; those of dismissed members serve again
  int capacity_ = 0;
};

}  // namespace weft::core
