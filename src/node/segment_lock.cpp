// SPDX-License-Identifier: Apache-2.0
// The segment's three locks. A holder that was killed or stopped loses them.
#include "node/segment.h"

#include <ctime>
#include <utility>

#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::node {

namespace {

// Locks are held for some microseconds as a rule. Pauses are counted, so that a clock that jumps makes nobody wait for
// longer, or less.
template <class Try>
bool await(Try&& have, int64_t longest_ns) noexcept {
  constexpr int kLooks = 200;
  constexpr timespec kPause{0, 100'000};
  constexpr int64_t kPauseTakesNs = 160'000;
  for (int i = 0; i < kLooks; ++i) {
    if (have()) return true;
    platform::pause();
  }
  for (int64_t left = longest_ns; left > 0; left -= kPauseTakesNs) {
    nanosleep(&kPause, nullptr);
    if (have()) return true;
  }
  return false;
}

}  // namespace

// Whether the holder of a lock is gone. A word that no holder can have written counts as such: another process has
// written over the lock.
bool Segment::has_gone(Holder holder, Check check) const noexcept {
  const int seat = seat_of(holder);
  if (seat < 0) return true;
  const Record& record = layout_->records[static_cast<size_t>(seat)];
  const uint32_t life = record.life.load(std::memory_order_acquire);
  return life != thread_of(holder) || node::has_gone(record, life, check);
}

// The word for the next lock that this process takes. It is another one each time: so a thread that takes a lock from a
// holder that is gone cannot take it from a later holder by mistake.
Holder Segment::next_holder() noexcept {
  return holder_of(seat_.thread(), seat_.number(), times_locked_.fetch_add(1, std::memory_order_relaxed));
}

// Acquire, with the release by the last holder: what that holder has written is seen.
Segment::Held Segment::try_to_hold(std::atomic<Holder>& lock, Holder& mine, Check check) noexcept {
  Holder seen = lock.load(std::memory_order_relaxed);
  const Held held = seen == 0 ? Held::yes : Held::after_another;
  if (seen != 0 && !has_gone(seen, check)) return Held::no;
  const Holder next = next_holder();
  if (!lock.compare_exchange_strong(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return Held::no;
  mine = next;
  return held;
}

// Unlocks, unless another process has taken the lock meanwhile, since it took this one for dead or stopped.
void Segment::let_go(std::atomic<Holder>& lock, Holder& mine) noexcept {
  Holder held = std::exchange(mine, 0);
  lock.compare_exchange_strong(held, 0, std::memory_order_release, std::memory_order_relaxed);
}

// A holder that was killed may have left its work half done. The next one does that work again, which each step allows.
bool Segment::try_lock(Check check) noexcept {
  const Held held = seat_.taken() ? try_to_hold(layout_->header.lock, locked_, check) : Held::no;
  if (held == Held::after_another) remove_dead(Check::processes);
  return held != Held::no;
}

bool Segment::try_lock() noexcept { return try_lock(Check::marks); }

// As long as processes come and go, the lock changes hands, and waiting has a point: its holder is not stuck.
bool Segment::lock() noexcept {
  constexpr int64_t kLongestNs = 1'000'000'000;
  constexpr int kMostWaits = 30;
  if (!seat_.taken()) return false;
  uint64_t before = memberships();
  for (int i = 0; i < kMostWaits; ++i) {
    if (await([this] { return try_lock(Check::marks); }, kLongestNs) || try_lock(Check::processes)) return true;
    if (std::exchange(before, memberships()) == before) return false;
  }
  return false;
}

void Segment::unlock() noexcept { let_go(layout_->header.lock, locked_); }

bool Segment::lock_queue(int64_t longest_ns) noexcept {
  if (!seat_.taken()) return false;
  std::atomic<Holder>& lock = layout_->header.queue_lock;
  const Holder first = lock.load(std::memory_order_relaxed);
  const auto have = [&] { return try_to_hold(lock, queue_locked_, Check::marks) != Held::no; };
  if (await(have, longest_ns)) return true;
  // If the word is still the first one, one holder has had the lock all the time. It is stopped, or the word is
  // garbage.
  Holder seen = first;
  const Holder next = next_holder();
  if (!lock.compare_exchange_strong(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return false;
  queue_locked_ = next;
  return true;
}

// Sequentially consistent: a process that does not get the lock has counted a change before, and the process that lets
// the lock go sees the count afterwards.
bool Segment::try_lock_division(Holder& mine, Holder stuck, Holder& holder) noexcept {
  holder = 0;
  if (!seat_.taken()) return false;
  std::atomic<Holder>& lock = layout_->header.division_lock;
  holder = lock.load();
  if (holder != 0 && holder != stuck && !has_gone(holder, Check::marks)) return false;
  const Holder next = next_holder();
  if (!lock.compare_exchange_strong(holder, next)) return false;
  mine = next;
  return true;
}

bool Segment::holds_division(Holder mine) const noexcept {
  return layout_->header.division_lock.load(std::memory_order_relaxed) == mine;
}

bool Segment::unlock_division(Holder& mine) noexcept {
  Holder held = std::exchange(mine, 0);
  const bool had = layout_->header.division_lock.compare_exchange_strong(held, 0);
  platform::full_fence_after_update();
  return had;
}

void Segment::unlock_queue() noexcept { let_go(layout_->header.queue_lock, queue_locked_); }

}  // namespace weft::node
