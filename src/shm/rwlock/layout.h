// SPDX-License-Identifier: Apache-2.0
// The layout of a reader-writer lock in shared memory. There are no pointers, and no process relies on a number that
// another one may have written: the count of records is read once, at the attachment, and checked then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shm/segment/header.h"

namespace weft::shm {

inline constexpr uint32_t kRwlockLayout = 2;

// The state of the data that the lock guards.
enum class Data : uint32_t {
  whole,
  torn,  // a writer has died while it had the lock
  lost,  // the next writer has unlocked without mending the data
};

// The record of a reader. It takes two cache lines: processors fetch lines in pairs.
template <class Ops>
struct alignas(128) ReaderRecord {
  static constexpr uint32_t kWaiting = 1u << 31;
  static constexpr uint32_t kFenced = 1u << 30;  // beside the other bits of `depth`: the reader makes its fences itself
  static constexpr uint32_t kFree = 0, kClosed = 1, kClosing = 2;

  static constexpr bool is_waiting(uint32_t depth) noexcept { return (depth & kWaiting) != 0; }
  static constexpr bool is_in(uint32_t depth) noexcept { return !is_waiting(depth) && (depth & ~kFenced) != 0; }

  // How often the reader has locked; 0: it is out. Or kWaiting: it waits to be let in, and has no lock. Written by the
  // reader; also by a writer that lets it in (from kWaiting to 1), and by a thread that finds the reader dead (to 0).
  typename Ops::template Atomic<uint32_t> depth;
  // kFree: the reader goes in without looking at the gate; it has set this itself when it found the gate open.
  // kClosing: a writer has closed the record, and does not know yet whether the reader has seen that. kClosed: the
  // reader has.
  typename Ops::template Atomic<uint32_t> closed;
  // Owned by the reader's thread from when it registers until it unregisters; the kernel marks it when the thread is
  // gone.
  typename Ops::Robust lease;
  // `owner`: another number for each reader that registers here. `thread`: the number of its thread
  // (sync/thread_number.h). Both are written by the owner of the lease.
  typename Ops::template Atomic<uint64_t> owner;
  typename Ops::template Atomic<uint64_t> thread;
};

template <class Ops>
struct RwlockLayout {
  using Word = typename Ops::template Atomic<uint32_t>;

  Header header;
  uint32_t records;  // how many there are
  uint32_t fair;  // not 0: a writer that unlocks lets in the readers that wait
  uint32_t fenced;  // not 0: readers make their fences themselves

  // ---- what readers read after each writer ----
  // Odd: readers stay out, since a writer has the lock or waits for it, or the data is not whole. It grows at each
  // change, so that a reader that falls asleep on one closing does not sleep through the next opening.
  alignas(128) Word gate;

  // ---- for writers, and for threads that wait ----
  // The writer that has the lock or is about to get it.
  alignas(128) typename Ops::Robust writer;
  // The owner of `writer` has the lock, and may be changing the data.
  Word writing;
  // The number of the owner's thread while it has the lock: a thread finds out by it that it has the lock itself.
  typename Ops::template Atomic<uint64_t> writer_thread;
  typename Ops::template Atomic<Data> data;
  Word top;  // no reader has ever had a record from this one on
  Word sleeping_readers;  // not 0: readers may sleep on the gate
  Word sleeping_writer;  // not 0: the writer may sleep on a reader's depth
  typename Ops::template Atomic<uint64_t> owners;  // the last number that a record's `owner` was given

  alignas(128) ReaderRecord<Ops> record[1];
};

template <class Ops>
constexpr size_t rwlock_bytes(uint32_t records) noexcept {
  return offsetof(RwlockLayout<Ops>, record) + records * sizeof(ReaderRecord<Ops>);
}

}  // namespace weft::shm
