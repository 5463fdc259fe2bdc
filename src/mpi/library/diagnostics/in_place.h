// SPDX-License-Identifier: Apache-2.0
// Calls that wait in place, without a pause: those outside of parallel regions.
//
// A thread has a record, into which it copies its call, so that a call costs some stores. A thread that visits the
// records says so first, and makes all threads pass a fence (platform/asymmetric_fence.h):
//   the thread, at the end of a call:   stores "nobody waits here"; light fence; loads "a visit is on"
//   the visit:                          stores "a visit is on"; heavy fence; loads who waits
// So either the visit sees that the call has ended, or the thread sees the visit and waits until it is over.
//
// A program's error handler may leave its call by longjmp. Then the record still has that call, until the thread's next
// one. It can be read: the arguments lie in the record, and what they name, such as a type, belongs to MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include "mpi/library/diagnostics/call.h"
#include "platform/asymmetric_fence.h"

namespace weft::mpi {

class WaitInPlace {
 public:
  // The arguments are those of a `Call`.
  template <class Arguments>
  WaitInPlace(Describe describe, const Arguments& arguments, const void* caller) noexcept
      : record_(t_record != nullptr ? t_record : take_record()) {
    if (record_ != nullptr) begin(describe, arguments, caller);
  }
  // Copies the description of the call, since its arguments may not fit into the record.
  explicit WaitInPlace(const Call& call) noexcept : WaitInPlace(repeat, described(call), call.caller) {}
  ~WaitInPlace() {
    if (record_ != nullptr) end();
  }
  WaitInPlace(const WaitInPlace&) = delete;
  WaitInPlace& operator=(const WaitInPlace&) = delete;

 private:
  friend std::optional<int> visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept;

  struct alignas(64) Record {
    // How often a call has begun or ended here: odd while one waits. The record's thread writes it: with release when
    // the fields below are there to be read. Visits read it with acquire.
    std::atomic<uint64_t> turns{0};
    Describe describe = nullptr;
    const void* caller = nullptr;
    alignas(8) std::byte arguments[96];

    static bool waits(uint64_t turns) noexcept { return turns % 2 != 0; }

    // Used by visits, with their lock held: `turns` of the call that the last visit has seen here, and the time of the
    // first visit that has seen that call.
    uint64_t met = 0;
    int64_t met_since = 0;
    // With the same lock held: the list of all records, and the list of those that no thread has.
    Record* next = nullptr;
    Record* next_free = nullptr;
  };
  // Gives the thread's record back when the thread ends.
  struct EndOfThread;

  static inline constinit thread_local Record* t_record = nullptr;
  // Whether a visit is on. A visit clears it with release when it has read all records; threads read it with acquire.
  static inline constinit std::atomic<bool> g_visited{false};

  // Returns null where there is no memory, or the thread is ending. Then no visit sees the call.
  static Record* take_record() noexcept;
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
  void begin(Describe describe, const Arguments& arguments, const void* caller) noexcept {
    static_assert(sizeof(Arguments) <= sizeof(Record::arguments) && alignof(Arguments) <= 8);
    // The record may have a call already: one around this call, which has called back, or one that the thread has left
    // by longjmp. No visit sees that call any more.
    if (__builtin_expect(Record::waits(record_->turns.load(std::memory_order_relaxed)), 0)) end();
    record_->describe = describe;
    record_->caller = caller;
    new (record_->arguments) Arguments(arguments);
    record_->turns.store(record_->turns.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[gnu::always_inline]] void end() noexcept {
    const uint64_t turns = record_->turns.load(std::memory_order_relaxed);
    // A call inside this one has ended the record's turn already.
    if (__builtin_expect(!Record::waits(turns), 0)) return;
    record_->turns.store(turns + 1, std::memory_order_relaxed);
    platform::light_fence();
    if (__builtin_expect(g_visited.load(std::memory_order_acquire), 0)) await_end_of_visit();
  }

  Record* const record_;
};

// Calls visit() for each call that waits in place, with the time of the first visit that has seen it. Returns how many
// there are, or nothing where they cannot be seen (heavy_fence() fails). No call ends meanwhile. There is one visit at
// a time.
std::optional<int> visit_waits_in_place(void (*visit)(const Call& call, int64_t began, void* argument),
                                        void* argument) noexcept;

}  // namespace weft::mpi
