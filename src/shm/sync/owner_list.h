// SPDX-License-Identifier: Apache-2.0
// The entries of a thread's list of robust futexes that are this library's; robust.h says why they are so.
#pragma once

#include <cstddef>
#include <cstdint>

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
  void announce(Robust& robust) noexcept;
  void unannounce() noexcept;
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

  void learn() noexcept;
  bool make_room() noexcept;
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

}  // namespace weft::shm
