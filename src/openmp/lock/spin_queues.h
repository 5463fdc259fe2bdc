// SPDX-License-Identifier: Apache-2.0
// Threads that spin for a lock stand in a queue, each on a cache line of its own: only the first one looks at the
// lock's word, which then goes from one CPU to the next and not round all that wait.
//
// The lock knows nothing of it, so it needs no memory: the ends of queues stand in a table by the hash of the lock's
// address. Where two locks meet there, the second one has no queue. A thread that comes may take a free lock at once,
// whether others wait in line or not: an entry says only which thread may look.
//
// An entry belongs to a spinner, by number. Another thread that spins meanwhile under the same number has none. The
// states of an entry:
//
//   out    in no queue; its owner may enter
//   waits  behind another one
//   first  its owner may look at the word, until it passes that on
//   left   its owner has gone while the entry waited, and may come back to it. The entry becomes first in its turn, and
//          the spinner that makes it first passes that on to the next one
//   gone   first, and passed on to a spinner behind it that has not yet said which one it is, and that will put the
//          entry out
//
// The owner of an entry that is left or gone can enter no other queue. An owner that is first passes that on before it
// goes, whether it has got the lock or not. So a queue is empty, or has a first one, or a thread in it is about to make
// one; and nobody in it waits for an owner that has left.
//
// A spinner that comes is the end of the queue at once, and tells the one before a little later. If that one wants to
// pass on meanwhile, it does not wait, since the newcomer may have lost its CPU in between: both exchange a word of the
// entry, and the second one does what is left to do. So no function here waits for another thread. But the spinner that
// is first, or about to be, may have no CPU: for that the lock's users look now and then.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/address_hash.h"
#include "platform/generation.h"

namespace weft::openmp {

// Of spinners 0 .. Numbers-1.
template <size_t Numbers>
class SpinQueues {
 public:
  // Spinner `number` gets in line for the lock at `address`. False: it cannot.
  bool enter(int number, const void* address) noexcept {
    Entry& mine = entry(number);
    const uint32_t generation = platform::generation();
    if (mine.generation == generation) {
      uint32_t left = kLeft;
      // Release and acquire as in leave().
      if (mine.address == address && mine.state.compare_exchange_strong(left, kWaits, std::memory_order_acq_rel))
        return true;
      // Acquire pairs with the release of the spinner that has put the entry out, and is done with it.
      if (mine.state.load(std::memory_order_acquire) != kOut) return false;
    }
    mine.generation = generation;
    mine.address = address;
    // Relaxed: others learn of the entry by what follows.
    mine.behind.store(0, std::memory_order_relaxed);
    mine.state.store(kWaits, std::memory_order_relaxed);
    std::atomic<uint64_t>& end = end_of(address);
    const uint64_t last = last_of(number, address);
    uint64_t seen = end.load(std::memory_order_relaxed);
    do {
      if (is_alive(seen) && !same_lock(seen, last)) {
        mine.state.store(kOut, std::memory_order_relaxed);
        return false;
      }
      // Release: the next spinner sees the entry as it is now. Acquire: the same of the one before.
    } while (!end.compare_exchange_weak(seen, last, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (!is_alive(seen)) {
      mine.state.store(kFirst, std::memory_order_relaxed);
    } else if (Entry& before = entry(number_of(seen));
               // Release: with the number come the entry and its state. Acquire: what the spinner that is gone has
               // done.
               before.behind.exchange(link_of(number), std::memory_order_acq_rel) == kGone) {
      mine.state.store(kFirst, std::memory_order_relaxed);
      put_out(before);
    }
    return true;
  }

  // Whether the owner, which has entered, may look at the word. Acquire pairs with the release of the spinner that says
  // so: what it has done to the queue is seen.
  bool is_first(int number) const noexcept {
    return entries_[at(number)].state.load(std::memory_order_acquire) == kFirst;
  }

  // The owner has what it has waited for, or waits no more in this way.
  void leave(int number, const void* address) noexcept {
    uint32_t waits = kWaits;
    // Release and acquire: the spinner that puts the entry out is to see it as it is now; if the owner is the first one
    // by now, the other way round.
    if (entry(number).state.compare_exchange_strong(waits, kLeft, std::memory_order_acq_rel)) return;
    pass_on(number, address);
  }

 private:
  enum State : uint32_t { kOut, kWaits, kFirst, kLeft };

  struct alignas(64) Entry {
    std::atomic<uint32_t> state{kOut};
    std::atomic<uint32_t> behind{0};  // the next spinner, see link_of(); 0: none so far; or kGone
    // Touched by the owner alone: of its process, since in the child of a fork no other entry is anybody's; and for
    // which lock it has entered last.
    uint32_t generation = 0;
    const void* address = nullptr;
  };

  // The end of a queue: of which lock, which spinner stands there, and of which process. 0: none has ever stood there.
  static constexpr int kNumberShift = 16;
  static constexpr int kLockShift = 32;
  static_assert(Numbers < (size_t{1} << kNumberShift));

  // In Entry::behind: the entry has been passed on to the next spinner, which has not told its number yet.
  static constexpr uint32_t kGone = ~uint32_t{0};
  static_assert(Numbers < kGone);

  static constexpr size_t at(int number) noexcept { return static_cast<size_t>(number); }
  static constexpr uint32_t link_of(int number) noexcept { return static_cast<uint32_t>(number) + 1; }
  static uint64_t last_of(int number, const void* address) noexcept {
    // Of the address, the bits that differ; the table's index has the others. Two locks with the same would share a
    // queue, in which each looks at its own word: it would cost time and nothing else.
    const uint64_t lock = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address) >> 2);
    return lock << kLockShift | uint64_t{link_of(number)} << kNumberShift | (platform::generation() & 0xffffu);
  }
  static bool is_alive(uint64_t last) noexcept {
    return (last >> kNumberShift & 0xffffu) != 0 && (last & 0xffffu) == (platform::generation() & 0xffffu);
  }
  static bool same_lock(uint64_t a, uint64_t b) noexcept { return a >> kLockShift == b >> kLockShift; }
  static int number_of(uint64_t last) noexcept { return static_cast<int>(last >> kNumberShift & 0xffffu) - 1; }

  Entry& entry(int number) noexcept { return entries_[at(number)]; }
  std::atomic<uint64_t>& end_of(const void* address) noexcept {
    return ends_[base::address_hash<kBits>(reinterpret_cast<uintptr_t>(address) >> 2)].word;
  }

  // The last access to an entry that is passed on. Release: see enter().
  static void put_out(Entry& gone) noexcept { gone.state.store(kOut, std::memory_order_release); }

  void pass_on(int number, const void* address) noexcept {
    std::atomic<uint64_t>& end = end_of(address);
    for (;;) {
      Entry& gone = entry(number);
      // Acquire, twice: the entry behind is seen as it was entered.
      uint32_t behind = gone.behind.load(std::memory_order_acquire);
      if (behind == 0) {
        uint64_t last = last_of(number, address);
        // Release: a spinner that comes into the empty queue comes after all this. Else nothing has been learned.
        if (end.compare_exchange_strong(last, 0, std::memory_order_release, std::memory_order_relaxed))
          return put_out(gone);
        // Release: the spinner that comes is first then, see is_first().
        behind = gone.behind.exchange(kGone, std::memory_order_acq_rel);
        if (behind == 0) return;
      }
      put_out(gone);
      number = static_cast<int>(behind) - 1;
      // Release: see is_first(). Acquire: see leave(). An owner that has left does not come back to the entry any more.
      if (entry(number).state.exchange(kFirst, std::memory_order_acq_rel) == kWaits) return;
    }
  }

  static constexpr unsigned kBits = 8;
  struct alignas(64) End {
    std::atomic<uint64_t> word{0};
  };
  std::array<End, size_t{1} << kBits> ends_{};
  std::array<Entry, Numbers> entries_{};
};

}  // namespace weft::openmp
