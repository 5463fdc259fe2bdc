// SPDX-License-Identifier: Apache-2.0
// Ownership that outlives nobody: a word in shared memory that belongs to a thread, and of which the kernel says when
// that thread is gone, whether it ended, was killed or its program was replaced by another.
//
// It is a robust mutex of the C library. The kernel's list of a thread's robust mutexes is found by the thread's
// identity, so a user-level thread, which brings its identity to whichever OS thread runs it, owns as a thread does. It
// is not of the kind that finds a thread that takes what it has: that compares numbers of threads, which are the same
// for different threads of two PID namespaces. For the same reason nobody sleeps in the C library's call (robust.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

namespace weft::shm {

enum class Taken : uint8_t {
  no,  // somebody alive has it
  yes,
  after_death,  // the caller has it, from a thread that has gone without giving it back
  refused,  // what lies there is none, or the C library would not have it
};

class Robust {
 public:
  // In memory that nobody uses yet.
  bool make() noexcept;
  // The caller has not got it: who takes it twice waits for ever.

  Taken try_take() noexcept;
  // Waits until `deadline_ns` of CLOCK_MONOTONIC; `no` when it has passed. Other user-level threads run meanwhile.
  Taken take(int64_t deadline_ns) noexcept;
  // After `after_death`, when what it guards is whole: else the next one hears of a death again.
  void settle() noexcept;
  // By the owner.
  void give() noexcept;

 private:
  // Whether it is still what make() has made. The C library stops the process where it finds some other kinds.
  bool is_one() const noexcept;
  // What the C library and the kernel write the owner's number into; 0: nobody has it.
  std::atomic<uint32_t>& word() noexcept;

  pthread_mutex_t mutex_;
};

// How many the calling thread has. When a thread ends, the kernel walks through 2048 of its robust mutexes (its
// ROBUST_LIST_LIMIT), from the latest on, and tells nobody of the others.
uint32_t robust_held() noexcept;
// Beyond it nothing that is kept for long is taken; the rest is for write locks, stores and the program's own mutexes.
inline constexpr uint32_t kMostLeases = 2000;

}  // namespace weft::shm
