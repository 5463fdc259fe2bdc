// SPDX-License-Identifier: Apache-2.0
// A word that says who owns something, and how it passes from one owner to the next. A template over the machine, for
// the model checker.
//
//   bits 0-29   the number of the owner's thread, in its own PID namespace; 0: there is no owner
//   bit 30      the owner has died: set by the kernel, which takes the number away
//   bit 31      a thread may sleep on the word
//   bits 32-51  the era: of which home of the segment the owner is (segment/home.h)
//   bits 52-63  the stamp: a part of a number that no other thread has (sync/thread_number.h)
//
// The kernel knows the lower half, which is a futex, as that of a robust mutex. An owner of another era is none: the
// segment was copied, or the machine booted anew, and the thread that owned the word then does so no more, or owns a
// word of another segment. The next thread takes the word as from a dead owner. Since all of that stands in one word,
// one of several threads gets it.
#pragma once

#include <atomic>
#include <cstdint>

#include <linux/futex.h>

#include "shm/segment/home.h"

namespace weft::shm {

enum class Taken : uint8_t {
  no,  // a living thread owns it
  yes,
  after_death,  // the caller has it, from an owner that has gone without giving it back
};

namespace owner_word {

inline constexpr uint64_t kNumber = FUTEX_TID_MASK;
inline constexpr uint64_t kDied = FUTEX_OWNER_DIED;
inline constexpr uint64_t kWaiters = FUTEX_WAITERS;
inline constexpr unsigned kStampBits = 12;
static_assert(32 + kEraBits + kStampBits == 64);

constexpr uint64_t of(uint32_t number, uint32_t era, uint64_t thread) noexcept {
  return (number & kNumber) | uint64_t{era} << 32 | thread << (32 + kEraBits);
}
constexpr uint32_t number(uint64_t word) noexcept { return static_cast<uint32_t>(word & kNumber); }
constexpr uint32_t era(uint64_t word) noexcept { return static_cast<uint32_t>(word >> 32) & ((1u << kEraBits) - 1); }
constexpr bool is_stamped_by(uint64_t word, uint64_t thread) noexcept {
  return word >> (32 + kEraBits) == (thread & ((1u << kStampBits) - 1));
}

constexpr bool is_free(uint64_t word) noexcept { return (word & (kNumber | kDied)) == 0; }
// Whether the word says that there is an owner.
constexpr bool is_owned(uint64_t word, uint32_t of_era) noexcept {
  return number(word) != 0 && (word & kDied) == 0 && era(word) == of_era;
}

}  // namespace owner_word

template <class Ops>
class OwnerWord {
 public:
  using Word = typename Ops::template Atomic<uint64_t>;

  void make() noexcept { word_.store(0, std::memory_order_relaxed); }
  // Relaxed: the value only says whether to try, and what to compare.
  uint64_t look() const noexcept { return word_.load(std::memory_order_relaxed); }

  // Takes the word where it still is `seen`, which has no owner, or one that is known to be gone; `no`: it has changed.
  // Acquire: what the owner before has written is seen.
  Taken take_from(uint64_t seen, uint64_t mine) noexcept {
    const Taken taken = owner_word::is_free(seen) ? Taken::yes : Taken::after_death;
    const uint64_t wanted = mine | (seen & owner_word::kWaiters);
    const bool done = word_.compare_exchange_strong(seen, wanted, std::memory_order_acquire, std::memory_order_relaxed);
    return done ? taken : Taken::no;
  }

  // Calls try_take() until the word is `mine`; sleeps in between. `no`: `deadline_ns` has passed.
  template <class Try>
  Taken take(uint64_t mine, int64_t deadline_ns, Try&& try_take) noexcept {
    typename Ops::Pause pause;
    for (bool slept = false;;) {
      const Taken taken = try_take();
      if (taken != Taken::no) {
        // The owner that gives the word back wakes one sleeper, and only where the word says that there may be one. A
        // thread that has slept does not know whether others sleep, so it says that some may. Relaxed: give() reads the
        // word again.
        uint64_t seen = mine;
        if (slept) word_.compare_exchange_strong(seen, mine | owner_word::kWaiters, std::memory_order_relaxed);
        return taken;
      }
      if (Ops::must_not_sleep()) {
        if (Ops::now_ns() >= deadline_ns) return Taken::no;
        pause.once();
        continue;
      }
      // A thread that is about to give up says so too: it may have been woken in the place of another sleeper, and a
      // thread that has not slept may have taken the word first.
      uint64_t seen = look();
      if (!owner_word::is_owned(seen, owner_word::era(mine))) continue;
      // Relaxed: the kernel compares the word again, under a lock of its own, before it puts the caller to sleep.
      if ((seen & owner_word::kWaiters) == 0 &&
          !word_.compare_exchange_strong(seen, seen | owner_word::kWaiters, std::memory_order_relaxed)) {
        continue;
      }
      if (Ops::now_ns() >= deadline_ns) return Taken::no;
      Ops::wait_for_owner(word_, static_cast<uint32_t>(seen | owner_word::kWaiters), deadline_ns);
      slept = true;
    }
  }

  // Called by the owner. Release: the next one sees what it has written. A number that something else has written over
  // the owner's is taken for the owner's, if the rest of the word still is its own. A word that is another owner's by
  // now stays that.
  void give(uint64_t mine) noexcept {
    uint64_t seen = mine;
    while (!word_.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) {
      if (seen >> 32 != mine >> 32) return;
    }
    if (seen != mine) Ops::wake_one_for_owner(word_);
  }

 private:
  Word word_;
};

}  // namespace weft::shm
