// SPDX-License-Identifier: Apache-2.0
// The entries of a thread's list of robust futexes that are this library's; robust.h says why they are so.
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
  // Of the calling thread; in the child of a fork it is empty.
  static OwnerList& own() noexcept;

  // What the thread writes into words.
  uint32_t number() const noexcept { return number_; }
  uint64_t thread() const noexcept { return thread_; }
  uint64_t space() const noexcept { return space_; }
  const platform::ProcessId& process() const noexcept { return process_; }
  uint32_t count() const noexcept { return count_; }

  // From now on, and until unannounce(): if the thread ends and the word has its number, the kernel marks it.
  void announce(Robust& robust) noexcept {
    if (head_ != nullptr) head_[kPending] = &robust.link_;
    in_this_order();
  }
  void unannounce() noexcept {
    in_this_order();
    if (head_ != nullptr) head_[kPending] = nullptr;
  }
  // The same, until remove(), whatever else is announced. Where there is no memory, it is not: see Look::process.
  void add(Robust& robust) noexcept;
  void remove(Robust& robust) noexcept;

 private:
  // As the C library's mutexes, as far as its functions and the kernel look at them.
  struct Entry {
    uint32_t word = 0;  // nobody's
    uint32_t unused[5] = {};
    void** before = nullptr;  // where the entry before has its link to this one
    void* next = nullptr;  // the link
  };

  // In the head: the first entry, the distance from a link to its word, and what is about to be taken or given back.
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

  uint32_t generation_ = 0;  // of the process that it is for
  uint32_t number_ = 0;
  uint64_t thread_ = 0;
  uint64_t space_ = 0;
  platform::ProcessId process_;
  void** head_ = nullptr;  // null: this is no list that we know
  // In the list while there is something between them.
  Entry first_;
  Entry last_;
  // What stands between them, in this order.
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
