// SPDX-License-Identifier: Apache-2.0
// The entries of this library in a thread's list of robust futexes; robust.h says why they are so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/generation.h"
#include "platform/process.h"
#include "shm/sync/robust.h"

namespace weft::shm {

class OwnerList {
 public:
  // The list of the calling thread; in the child of a fork it is empty.
  static OwnerList& own() noexcept;

  // The numbers that the thread writes into words that it owns.
  uint32_t number() const noexcept { return number_; }
  uint64_t thread() const noexcept { return thread_; }
  uint64_t space() const noexcept { return space_; }
  const platform::ProcessId& process() const noexcept { return process_; }
  uint32_t count() const noexcept { return count_; }

  // Until unannounce(), the kernel marks the word if the thread ends while the word has its number.
  void announce(Robust& robust) noexcept {
    if (head_ != nullptr) head_[kPending] = &robust.link_;
    in_this_order();
  }
  void unannounce() noexcept {
    in_this_order();
    if (head_ != nullptr) head_[kPending] = nullptr;
  }
  // The same until remove(), whatever else is announced. Without memory the kernel does not mark the word: see
  // Look::process.
  void add(Robust& robust) noexcept;
  void remove(Robust& robust) noexcept;

 private:
  // Laid out as a mutex of the C library, as far as its functions and the kernel look at it.
  struct Entry {
    uint32_t word = 0;  // the entry is no lock, so nobody owns it
    uint32_t unused[5] = {};
    void** before = nullptr;  // where the entry before has its link to this one
    void* next = nullptr;  // the link
  };

  // Places in the head of the list: [0] the first entry; kDistance: the distance from a link to its word; kPending: the
  // entry that is about to be taken or given back.
  static constexpr size_t kDistance = 1, kPending = 2;

  // The kernel reads the list when the thread is gone, so the thread's own order of writing is what counts: at each
  // instruction the list is whole.
  static void in_this_order() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

  void learn() noexcept;
  bool make_room() noexcept;
  void unlink_all() noexcept;
  void remove_one(Robust& robust) noexcept;
  void* link_of(uint32_t i) const noexcept;
  static void** before_of(void* link) noexcept;

  uint32_t generation_ = 0;  // of the process that the list is for
  uint32_t number_ = 0;
  uint64_t thread_ = 0;
  uint64_t space_ = 0;
  platform::ProcessId process_;
  void** head_ = nullptr;  // null: the thread's list is not laid out as the C library's
  // These two stand in the list while there are entries between them.
  Entry first_;
  Entry last_;
  // held_ points to the count_ entries between the two, in this order: they lie in near_, or in allocated memory.
  static constexpr uint32_t kNear = 4;
  Robust* near_[kNear] = {};
  Robust** held_ = nullptr;
  uint32_t count_ = 0;
  uint32_t room_ = 0;
};

extern constinit thread_local OwnerList t_owner_list;

inline OwnerList& OwnerList::own() noexcept {
  OwnerList* list = &t_owner_list;
  asm("" : "+r"(list));  // else each use is another call of __tls_get_addr()
  if (list->generation_ != platform::generation()) [[unlikely]] {
    list->learn();
  }
  return *list;
}

}  // namespace weft::shm
