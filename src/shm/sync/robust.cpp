// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/robust.h"

#include <algorithm>
#include <bit>

#include "base/keep_errno.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "shm/sync/owner_list.h"
#include "shm/sync/runtime.h"

namespace weft::shm {

namespace {

// No thread sleeps longer than this: a thread that is killed just when it has been woken takes the wake-up with it.
constexpr int64_t kLongestSleepNs = 100'000'000;
// When a thread that waits looks for the owner's process: rarely, since the kernel marks the word as a rule.
constexpr int64_t kFirstLookNs = 100'000'000;
constexpr int64_t kLastLookNs = 2'000'000'000;

// The half that is a futex. The machines that weft supports have the lower one first.
const std::atomic<uint32_t>& futex_of(const std::atomic<uint64_t>& word) noexcept {
  static_assert(std::atomic<uint64_t>::is_always_lock_free && std::endian::native == std::endian::little);
  return reinterpret_cast<const std::atomic<uint32_t>&>(word);
}

uint64_t word_of(const OwnerList& list, uint32_t era) noexcept {
  return owner_word::of(list.number(), era, list.thread());
}

}  // namespace

bool Robust::Machine::must_not_sleep() noexcept { return runtime().in_parallel(); }

int64_t Robust::Machine::now_ns() noexcept { return platform::now_ns(); }

void Robust::Machine::wait_for_owner(const std::atomic<uint64_t>& word, uint32_t expected,
                                     int64_t deadline_ns) noexcept {
  const int64_t left = deadline_ns - platform::now_ns();
  if (left > 0) platform::futex_wait_shared(futex_of(word), expected, std::min(left, kLongestSleepNs));
}

void Robust::Machine::wake_one_for_owner(const std::atomic<uint64_t>& word) noexcept {
  platform::futex_wake_shared(futex_of(word), 1);
}

// Relaxed, all: nobody looks before the segment is ready.
void Robust::make() noexcept {
  word_.make();
  for (auto* word : {&thread_, &space_, &pid_, &link_, &inode_, &start_, &clock_}) {
    word->store(0, std::memory_order_relaxed);
  }
}

// The kernel takes an announced word for one that the thread is about to own. If the thread is killed then, and the
// word has its number, the kernel marks the word. In another PID namespace a living owner may have the same number. So
// a thread does not announce a word that it has seen owned: a new owner may come only within some instructions.
Taken Robust::try_take(uint32_t era, Hold hold, Look look) noexcept {
  const uint64_t seen = word_.look();
  const bool owned = owner_word::is_owned(seen, era);
  if (owned && (look == Look::word || !owner_has_gone(seen))) return Taken::no;
  OwnerList& list = OwnerList::own();
  list.announce(*this);
  const Taken taken = word_.take_from(seen, word_of(list, era));
  // Relaxed: where the thread itself was the last owner, its identity stands there already.
  if (taken != Taken::no && thread_.load(std::memory_order_relaxed) != list.thread()) {
    // Relaxed, but for the last, which makes the others valid: see owner().
    space_.store(list.space(), std::memory_order_relaxed);
    const platform::ProcessId& process = list.process();
    pid_.store(static_cast<uint64_t>(process.pid), std::memory_order_relaxed);
    inode_.store(process.inode, std::memory_order_relaxed);
    start_.store(process.start, std::memory_order_relaxed);
    clock_.store(process.clock, std::memory_order_relaxed);
    thread_.store(list.thread(), std::memory_order_release);
  }
  if (taken != Taken::no && hold == Hold::long_term) list.add(*this);
  if (taken == Taken::no || hold == Hold::long_term) list.unannounce();
  return taken;
}

Taken Robust::take(uint32_t era, Hold hold, int64_t deadline_ns) noexcept {
  // The first try needs nothing of what a wait needs.
  if (const Taken taken = try_take(era, hold); taken != Taken::no) return taken;
  int64_t look_after = kFirstLookNs;
  int64_t look_at = platform::now_ns() + look_after;
  return word_.take(word_of(OwnerList::own(), era), deadline_ns, [&]() noexcept {
    const int64_t now = platform::now_ns();
    if (now < look_at) return try_take(era, hold);
    look_after = std::min(2 * look_after, kLastLookNs);
    look_at = now + look_after;
    return try_take(era, hold, Look::process);
  });
}

void Robust::give(uint32_t era, Hold hold) noexcept {
  OwnerList& list = OwnerList::own();
  list.announce(*this);
  if (hold == Hold::long_term) list.remove(*this);
  word_.give(word_of(list, era));
  list.unannounce();
}

Robust::Owner Robust::owner() const noexcept {
  Owner owner;
  const uint64_t seen = word_.look();
  // Acquire: the identity that belongs to the thread's number is seen. If another thread owns the word by now, the
  // stamp does not fit.
  const uint64_t thread = thread_.load(std::memory_order_acquire);
  if (owner_word::number(seen) == 0 || !owner_word::is_stamped_by(seen, thread)) return owner;
  owner.known = true;
  const uint64_t space = space_.load(std::memory_order_relaxed);
  owner.is_near = space != 0 && space == OwnerList::own().space();
  owner.process = {.pid = static_cast<pid_t>(pid_.load(std::memory_order_relaxed)),
                   .inode = inode_.load(std::memory_order_relaxed),
                   .start = start_.load(std::memory_order_relaxed),
                   .clock = clock_.load(std::memory_order_relaxed)};
  return owner;
}

// Whether the owner is gone. Where there is doubt it is not.
bool Robust::owner_has_gone(uint64_t seen) const noexcept {
  const base::KeepErrno keep;
  const Owner found = owner();
  if (!found.known || !found.is_near || word_.look() != seen) return false;
  return platform::process_has_ended(found.process) ||
         platform::thread_has_ended(static_cast<pid_t>(owner_word::number(seen)));
}

uint32_t robust_held() noexcept { return OwnerList::own().count(); }

}  // namespace weft::shm
