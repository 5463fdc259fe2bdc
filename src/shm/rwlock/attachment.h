// SPDX-License-Identifier: Apache-2.0
// What a process keeps of a lock that it is attached to: which of its threads read and which one writes, so that misuse
// is found, and so that the child of a fork does not take its parent's handles for its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/spinlock.h"
#include "shm/rwlock/protocol.h"
#include "shm/sync/ops.h"
#include "shm/sync/thread_number.h"
#include "weft/rwlock.h"

namespace weft::shm {

using RwlockSlotReal = RwlockSlot<RealOps>;

// A reader's handle. The public part comes first: the program has its address.
struct Reader : weft_rwlock_reader {
  weft_rwlock* lock;
  RwlockSlotReal* own;
  uint64_t owner;  // the slot's, as long as the slot is this reader's
  uint64_t thread;  // its number
  Reader* next;
  // In the child of a fork the public part points here: a slot that is always closed, so that each call comes to
  // weft_rwlock_enter_().
  uint32_t no_slot[2];
  bool of_parent;
};

}  // namespace weft::shm

struct weft_rwlock {
  using Layout = weft::shm::RwlockLayout<weft::shm::RealOps>;

  weft_rwlock(Layout& memory, uint32_t count, bool writes) noexcept
      : layout(memory), slots(count), may_write(writes), protocol(memory, count) {}

  Layout& layout;
  const uint32_t slots;
  const bool may_write;  // the process can make the fences that the lock relies on
  weft::shm::RwlockProtocol<weft::shm::RealOps> protocol;
  // The thread of this process that has the write lock. Relaxed: only a thread's own number means anything to it.
  std::atomic<uint64_t> writer{weft::shm::kNobody};
  weft::platform::Spinlock list_lock;  // of `readers`, which is whole at each instruction
  weft::shm::Reader* readers = nullptr;
  weft_rwlock* next = nullptr;

  bool writes() const noexcept { return writer.load(std::memory_order_relaxed) == weft::shm::thread_number(); }
  void add(weft::shm::Reader* reader) noexcept;
  void remove(const weft::shm::Reader* reader) noexcept;
};

namespace weft::shm {

// All attachments of the process; in the child of a fork what they know of threads is made void. False: the C library
// has no memory to do that.
bool enlist(weft_rwlock* lock) noexcept;
void strike(const weft_rwlock* lock) noexcept;

}  // namespace weft::shm
