// SPDX-License-Identifier: Apache-2.0
// Calls that wait without a pause: outside of parallel regions.
//
// A thread has a seat, into which it copies what its call is, so that a call costs some stores. The one who visits the
// seats says so first, and makes all threads pass a fence (platform/asymmetric_fence.h):
//   the thread, at the end of a call:   stores "nobody waits here"; light fence; loads "a visit is on"
//   the visit:                          stores "a visit is on"; heavy fence; loads who waits
// So either the visit sees that the call has ended, or the thread sees the visit and waits until it is over.
//
// A program's error handler may leave its call by longjmp. Then the seat says what the thread waited for until its next
// call: the arguments lie in the seat, and what they name, such as a type, is MPI's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include "mpi/library/waits/call.h"
#include "platform/asymmetric_fence.h"

namespace weft::mpi {

class WaitInPlace {
 public:
  // The arguments of a `Call`.
  template <class Arguments>
  WaitInPlace(Describe describe, const Arguments& arguments, const void* caller) noexcept
      : seat_(t_seat != nullptr ? t_seat : take_seat()) {
    if (seat_ != nullptr) sit_down(describe, arguments, caller);
  }
  // One that is known by what it says of itself.
  explicit WaitInPlace(const Call& call) noexcept : WaitInPlace(repeat, described(call), call.caller) {}
  ~WaitInPlace() {
    if (seat_ != nullptr) stand_up();
  }
  WaitInPlace(const WaitInPlace&) = delete;
  WaitInPlace& operator=(const WaitInPlace&) = delete;

 private:
  friend std::optional<int> visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept;

  struct alignas(64) Seat {
    // How many calls have begun and ended here: odd while one waits. Its thread writes it; with release, when the call
    // is there to be read, and acquire to read it.
    std::atomic<uint64_t> turns{0};
    Describe describe = nullptr;
    const void* caller = nullptr;
    alignas(8) std::byte arguments[96];

    static bool waits(uint64_t turns) noexcept { return turns % 2 != 0; }

    // Of visits, with their lock held: the call that the last one has met, and since when it is known.
    uint64_t met = 0;  // `turns`
    int64_t met_since = 0;
    // With that lock held: of all seats, and of those that are nobody's.
    Seat* next = nullptr;
    Seat* next_free = nullptr;
  };
  // Gives the thread's seat to others when the thread ends.
  struct Leaver;

  static inline constinit thread_local Seat* t_seat = nullptr;
  // Whether a visit is on. Release, by the visit, when it has read what it reads; acquire, by threads that go on.
  static inline constinit std::atomic<bool> g_visited{false};

  // Null: no memory, or the thread ends. Then nobody sees the call.
  static Seat* take_seat() noexcept;
  static void await_end_of_visit() noexcept;

  static Description described(const Call& call) noexcept {
    Description what;
    call.describe(call.arguments, what);
    return what;
  }
  static void repeat(const void* described, Description& into) noexcept {
    into = *static_cast<const Description*>(described);
  }

  template <class Arguments>
  void sit_down(Describe describe, const Arguments& arguments, const void* caller) noexcept {
    static_assert(sizeof(Arguments) <= sizeof(Seat::arguments) && alignof(Arguments) <= 8);
    // A call around this one, which has called back, is not seen again; or one that its thread has left by longjmp.
    if (__builtin_expect(Seat::waits(seat_->turns.load(std::memory_order_relaxed)), 0)) stand_up();
    seat_->describe = describe;
    seat_->caller = caller;
    new (seat_->arguments) Arguments(arguments);
    seat_->turns.store(seat_->turns.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[gnu::always_inline]] void stand_up() noexcept {
    const uint64_t turns = seat_->turns.load(std::memory_order_relaxed);
    // One within it has done it already.
    if (__builtin_expect(!Seat::waits(turns), 0)) return;
    seat_->turns.store(turns + 1, std::memory_order_relaxed);
    platform::light_fence();
    if (__builtin_expect(g_visited.load(std::memory_order_acquire), 0)) await_end_of_visit();
  }

  Seat* const seat_;
};

// Each of them, with the time of the first visit that has met it; returns how many, or nothing where they cannot be
// seen (heavy_fence()). None of them ends meanwhile. There is one visit at a time.
std::optional<int> visit_waits_in_place(void (*visit)(const Call& call, int64_t began, void* argument),
                                        void* argument) noexcept;

}  // namespace weft::mpi
