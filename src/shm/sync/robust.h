// SPDX-License-Identifier: Apache-2.0
// Ownership that outlives nobody: a word in shared memory that belongs to a thread, and of which the kernel says when
// that thread is gone, whether it ended, was killed or its program was replaced by another.
//
// The kernel does so for what a thread's list of robust futexes names (set_robust_list(2)). That list is the C
// library's: it is found by the thread's identity, so a user-level thread, which brings its identity to whichever OS
// thread runs it, owns as a thread does. The functions of the C library are not used, though: they follow pointers that
// lie in the mutex, so whoever may write there leads them to write anywhere in this process. Here no pointer is read
// from shared memory, ever:
//   - What is owned briefly, as the store's lock is, stands where the list has room for what is about to be taken or
//     given back: one address, in the thread's own memory.
//   - What is owned for long is in the list. The kernel wants the link to the next entry beside the word, so there it
//   is
//     written, for the kernel alone; which one the next is, the thread knows from its own memory. Before the first and
//     behind the last one are entries of its own, which the C library's functions may link others to.
// So what others write over a link can do no more than to end the kernel's way through the list when the thread ends,
// before it has come to all that the thread has. Then, and where the kernel never marks anything (an emulator), who has
// waited for some time looks whether the owner still is the process and thread that it has said to be.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/process.h"
#include "shm/sync/owner_word.h"
#include "shm/sync/wait.h"

namespace weft::shm {

// How a thread owns: within one call of this library, and then nothing else so; or for any time.
enum class Hold : uint8_t { briefly, long_term };

// What says that an owner has gone: the word; or its process as well, where both are in the same PID namespace, which
// takes some system calls.
enum class Look : uint8_t { word, process };

class Robust {
 public:
  // In memory that nobody uses yet.
  void make() noexcept;

  // The caller has not got it: who takes it twice waits for ever. `era`: the region's (Header::era).
  Taken try_take(uint32_t era, Hold hold, Look look = Look::word) noexcept;
  // Waits until `deadline_ns` of CLOCK_MONOTONIC; `no` when it has passed. Other user-level threads run meanwhile.
  Taken take(uint32_t era, Hold hold, int64_t deadline_ns) noexcept;
  // After `after_death`, when what it guards is whole. Nothing is to be done: until it gives it back, a caller that
  // dies is found dead in turn.
  void settle() noexcept {}
  // By the owner.
  void give(uint32_t era, Hold hold) noexcept;

  // Who has it, for people.
  struct Owner {
    bool known = false;
    bool is_near = false;  // in the caller's PID namespace, so that the number means something
    platform::ProcessId process;
  };
  Owner owner() const noexcept;

 private:
  friend class OwnerList;

  // What the word asks of the machine.
  struct Machine {
    template <class Value>
    using Atomic = std::atomic<Value>;
    using Pause = shm::Pause;
    static bool must_not_sleep() noexcept;
    static int64_t now_ns() noexcept;
    static void wait_for_owner(const std::atomic<uint64_t>& word, uint32_t expected, int64_t deadline_ns) noexcept;
    static void wake_one_for_owner(const std::atomic<uint64_t>& word) noexcept;
  };

  bool owner_has_gone(uint64_t seen) const noexcept;

  // The kernel knows the distance from the link to the word: it is the same in the C library's mutexes.
  OwnerWord<Machine> word_;
  // Who the owner is, written once it has the word; what does not fit to the word's stamp is of an earlier one.
  std::atomic<uint64_t> thread_;
  std::atomic<uint64_t> space_;  // of the numbers of its processes
  std::atomic<uint64_t> pid_;
  std::atomic<uint64_t> link_;  // to the next entry; for the kernel
  std::atomic<uint64_t> inode_;
  std::atomic<uint64_t> start_;
  std::atomic<uint64_t> clock_;
};

// How many the calling thread has for long. When a thread ends, the kernel walks through 2048 entries of its list (its
// ROBUST_LIST_LIMIT), from the latest on, and tells nobody of the others.
uint32_t robust_held() noexcept;
// Beyond it nothing that is kept for long is taken; the rest is for write locks and the program's own mutexes.
inline constexpr uint32_t kMostLeases = 2000;

}  // namespace weft::shm
