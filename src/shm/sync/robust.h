// SPDX-License-Identifier: Apache-2.0
// Ownership that ends with its owner: a word in shared memory that belongs to a thread. The kernel marks the word when
// the thread is gone, whether it has ended, was killed, or its program was replaced by another.
//
// The kernel does so for the entries of a thread's list of robust futexes (set_robust_list(2)). The list is the C
// library's. It is found by the thread's identity, so a user-level thread, which brings its identity to whichever OS
// thread runs it, owns as a thread does. The functions of the C library are not used: they follow pointers that lie in
// the mutex, so a process that may write there can lead them to write anywhere in this process. Here no pointer is ever
// read from shared memory:
//   - A word that is owned briefly, such as the store's lock, is named in the list's place for what is about to be
//     taken or given back: one address, in the thread's own memory.
//   - A word that is owned for long is an entry of the list. The kernel wants the link to the next entry beside the
//     word, so the thread writes it there, for the kernel alone. The thread itself knows the order of its entries
//     from its own memory. Before the first entry and behind the last one stand entries of its own, to which the C
//     library's functions may link others.
// So a process that writes over a link can at most end the kernel's walk through the list before it has come to all
// words. For that case, and where the kernel never marks anything (an emulator), a thread that has waited for some time
// looks whether the owner still is the process and thread that it has said to be.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/process.h"
#include "shm/sync/owner_word.h"
#include "shm/sync/wait.h"

namespace weft::shm {

// How long a thread owns something. briefly: within one call of this library; it owns nothing else briefly meanwhile.
// long_term: for any time.
enum class Hold : uint8_t { briefly, long_term };

// How to find out that an owner is gone. word: by the mark in the word. process: also by looking for its process, where
// both are in the same PID namespace; that takes some system calls.
enum class Look : uint8_t { word, process };

class Robust {
 public:
  // Makes the word in memory that no process uses yet.
  void make() noexcept;

  // The caller does not own it yet: a thread that takes it twice waits for ever. `era`: the segment's (Header::era).
  Taken try_take(uint32_t era, Hold hold, Look look = Look::word) noexcept;
  // The same, but waits until `deadline_ns` of CLOCK_MONOTONIC. Other user-level threads run meanwhile.
  Taken take(uint32_t era, Hold hold, int64_t deadline_ns) noexcept;
  // To be called after `after_death`, when what the word guards is whole again. Here nothing is to be done: if the
  // caller dies before it gives the word back, the next one finds that.
  void settle() noexcept {}
  // Called by the owner.
  void give(uint32_t era, Hold hold) noexcept;

  // The owner, for messages.
  struct Owner {
    bool known = false;
    bool is_near = false;  // in the caller's PID namespace, so that the number means something
    platform::ProcessId process;
  };
  Owner owner() const noexcept;

 private:
  friend class OwnerList;

  // What OwnerWord asks of the machine.
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

  // The distance from `link_` to the word is the one that the kernel knows from the C library's mutexes.
  OwnerWord<Machine> word_;
  // The owner's identity, written when it has the word. A value that does not fit to the word's stamp is an earlier
  // owner's.
  std::atomic<uint64_t> thread_;
  std::atomic<uint64_t> space_;  // the PID namespace
  std::atomic<uint64_t> pid_;
  std::atomic<uint64_t> link_;  // to the next entry; for the kernel
  std::atomic<uint64_t> inode_;
  std::atomic<uint64_t> start_;
  std::atomic<uint64_t> clock_;
};

// How many words the calling thread owns for long. When a thread ends, the kernel marks the 2048 latest entries of its
// list (ROBUST_LIST_LIMIT), and no others.
uint32_t robust_held() noexcept;
// A thread takes no more readers' leases than these; the rest of the list is for write locks and for the program's own
// mutexes.
inline constexpr uint32_t kMostLeases = 2000;

}  // namespace weft::shm
