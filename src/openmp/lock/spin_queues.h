// SPDX-License-Identifier: Apache-2.0
// Those who spin for a lock stand in a queue, each on a cache line of its own: only the first one looks at the lock's
// word, which then goes from one CPU to the next and not round all that wait.
//
// The lock knows nothing of it, so it needs no memory: the ends of queues stand in a table by the hash of the lock's
// address. Where two locks meet there, the second one has no queue. Who comes may take a free lock at once, whoever
// waits in line: a place says only who may look.
//
// A place belongs to a spinner. What spins meanwhile under the same number has none. Its states:
//
//   out    in no queue; its owner may enter
//   waits  behind another one
//   first  its owner may look at the word, until it passes that on
//   left   its owner has gone while it waited. It may come back to it. Who passes on makes it first in its turn, and
//          passes on from there
//   gone   first, and passed on to who comes next, who has not told so yet, and will put it out
//
// The owner of a place that is left or gone can enter no other queue. Whoever is first passes that on before it goes,
// whether it has got the lock or not. So a queue is empty, or somebody is its first one or is about to say who is; and
// nobody in it waits for one that has left.
//
// Who comes is the end of the queue at once, and tells the one before a little later. If that one wants to pass on
// meanwhile, it does not wait, since who comes may have lost its CPU in between: both exchange a word of the place, and
// the second one does what is left to do. So no function here waits for anybody. But who is first, or about to be, may
// have no CPU: for that the lock's users look now and then.
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
    Place& mine = place(number);
    const uint32_t generation = platform::generation();
    if (mine.generation == generation) {
      uint32_t left = kLeft;
      // Release and acquire as in leave().
      if (mine.address == address && mine.state.compare_exchange_strong(left, kWaits, std::memory_order_acq_rel))
        return true;
      // Acquire pairs with the release of who has put it out: that one is done with the place.
      if (mine.state.load(std::memory_order_acquire) != kOut) return false;
    }
    mine.generation = generation;
    mine.address = address;
    // Relaxed: others learn of the place by what follows.
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
      // Release: who comes next sees the place as it is now. Acquire: the same of the one before.
    } while (!end.compare_exchange_weak(seen, last, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (!is_alive(seen)) {
      mine.state.store(kFirst, std::memory_order_relaxed);
    } else if (Place& before = place(number_of(seen));
               // Release: with the number come the place and its state. Acquire: what has been done by who has gone.
               before.behind.exchange(link_of(number), std::memory_order_acq_rel) == kGone) {
      mine.state.store(kFirst, std::memory_order_relaxed);
      put_out(before);
    }
    return true;
  }

  // Whether the owner, which has entered, may look at the word. Acquire pairs with the release of who says so: what
  // that one has done to the queue is seen.
  bool is_first(int number) const noexcept {
    return places_[at(number)].state.load(std::memory_order_acquire) == kFirst;
  }

  // The owner has what it has waited for, or waits no more in this way.
  void leave(int number, const void* address) noexcept {
    uint32_t waits = kWaits;
    // Release and acquire: who puts the place out is to see it as it is now; if the owner is the first one by now, the
    // other way round.
    if (place(number).state.compare_exchange_strong(waits, kLeft, std::memory_order_acq_rel)) return;
    pass_on(number, address);
  }

 private:
  enum State : uint32_t { kOut, kWaits, kFirst, kLeft };

  struct alignas(64) Place {
    std::atomic<uint32_t> state{kOut};
    std::atomic<uint32_t> behind{0};  // who came next, see link_of(); 0: nobody so far; or kGone
    // Touched by the owner alone: of its process, since in the child of a fork no other place is anybody's; and for
    // which lock it has entered last.
    uint32_t generation = 0;
    const void* address = nullptr;
  };

  // The end of a queue: whose it is, who stands there, and of which process. 0: nobody has ever stood there.
  static constexpr int kNumberShift = 16;
  static constexpr int kLockShift = 32;
  static_assert(Numbers < (size_t{1} << kNumberShift));

  // In Place::behind: the place has been passed on to who comes next, which has not told yet.
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

  Place& place(int number) noexcept { return places_[at(number)]; }
  std::atomic<uint64_t>& end_of(const void* address) noexcept {
    return ends_[base::address_hash<kBits>(reinterpret_cast<uintptr_t>(address) >> 2)].word;
  }

  // The last access to a place that is passed on. Release: see enter().
  static void put_out(Place& gone) noexcept { gone.state.store(kOut, std::memory_order_release); }

  void pass_on(int number, const void* address) noexcept {
    std::atomic<uint64_t>& end = end_of(address);
    for (;;) {
      Place& gone = place(number);
      // Acquire, twice: the place behind is seen as it was entered.
      uint32_t behind = gone.behind.load(std::memory_order_acquire);
      if (behind == 0) {
        uint64_t last = last_of(number, address);
        // Release: who comes into the empty queue comes after all this. Else nothing has been learned.
        if (end.compare_exchange_strong(last, 0, std::memory_order_release, std::memory_order_relaxed))
          return put_out(gone);
        // Release: who comes is first then, see is_first().
        behind = gone.behind.exchange(kGone, std::memory_order_acq_rel);
        if (behind == 0) return;
      }
      put_out(gone);
      number = static_cast<int>(behind) - 1;
      // Release: see is_first(). Acquire: see leave(). An owner that has left does not come back to the place any more.
      if (place(number).state.exchange(kFirst, std::memory_order_acq_rel) == kWaits) return;
    }
  }

  static constexpr unsigned kBits = 8;
  struct alignas(64) End {
    std::atomic<uint64_t> word{0};
  };
  std::array<End, size_t{1} << kBits> ends_{};
  std::array<Place, Numbers> places_{};
};

}  // namespace weft::openmp
