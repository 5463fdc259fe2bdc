// SPDX-License-Identifier: Apache-2.0
// What a reader-writer lock is in shared memory. There are no pointers, and no process relies on a number that another
// one may have written: the count of slots is read once, at the attachment, and checked then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shm/region/header.h"

namespace weft::shm {

inline constexpr uint32_t kRwlockLayout = 2;

// How the data stands that the lock guards.
enum class Data : uint32_t {
  whole,
  torn,  // a writer has died while it had the lock
  lost,  // somebody has unlocked without mending that
};

// A reader's. Two lines: processors fetch lines in pairs.
template <class Ops>
struct alignas(128) RwlockSlot {
  static constexpr uint32_t kWaiting = 1u << 31;
  static constexpr uint32_t kFenced = 1u << 30;  // stands beside the others: the reader makes its fences itself
  static constexpr uint32_t kFree = 0, kClosed = 1, kClosing = 2;

  static constexpr bool is_waiting(uint32_t depth) noexcept { return (depth & kWaiting) != 0; }
  static constexpr bool is_in(uint32_t depth) noexcept { return !is_waiting(depth) && (depth & ~kFenced) != 0; }

  // How often the reader has locked; or kWaiting: it waits to be let in, and has nothing. Neither: it is out. Written
  // by the reader; from kWaiting to 1 also by a writer that lets it in; to 0 by who finds the reader dead.
  typename Ops::template Atomic<uint32_t> depth;
  // kFree: the reader goes in without looking at the gate. Set by the reader, when it has found the gate open.
  // kClosing: a writer has closed it, and does not know yet whether the reader has seen that. kClosed: it knows.
  typename Ops::template Atomic<uint32_t> closed;
  // The reader's from when it registers until it unregisters, and told to be nobody's by the kernel when it is gone.
  typename Ops::Robust lease;
  // Another number each time that somebody registers here, and the number of the thread (sync/thread_number.h). Written
  // by the owner of the lease.
  typename Ops::template Atomic<uint64_t> owner;
  typename Ops::template Atomic<uint64_t> thread;
};

template <class Ops>
struct RwlockLayout {
  using Word = typename Ops::template Atomic<uint32_t>;

  Header header;
  uint32_t slots;  // that there are
  uint32_t fair;  // the writer lets in those that wait
  uint32_t fenced;  // readers make their fences themselves

  // ---- what readers read after each writer ----
  // Odd: readers stay out, since a writer has the lock or waits for it, or the data is not whole. It grows by one at
  // each change, so that who falls asleep on one closing is not taken for a sleeper of the next.
  alignas(128) Word gate;

  // ---- between writers, and those who wait ----
  // Whose turn to write it is.
  alignas(128) typename Ops::Robust writer;
  // The owner of `writer` has the lock, and may be changing the data.
  Word writing;
  // Its number while it has the lock, by which it finds itself.
  typename Ops::template Atomic<uint64_t> writer_thread;
  typename Ops::template Atomic<Data> data;
  Word top;  // slots from it on have never been anybody's
  Word sleeping_readers;  // some may sleep on the gate
  Word sleeping_writer;  // the writer may sleep on a slot
  typename Ops::template Atomic<uint64_t> owners;  // numbers that slots have had

  alignas(128) RwlockSlot<Ops> slot[1];
};

template <class Ops>
constexpr size_t rwlock_bytes(uint32_t slots) noexcept {
  return offsetof(RwlockLayout<Ops>, slot) + slots * sizeof(RwlockSlot<Ops>);
}

}  // namespace weft::shm
