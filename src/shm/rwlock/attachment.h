// SPDX-License-Identifier: Apache-2.0
// The attachment of a process to a lock: which threads of the process read and which one writes. So misuse is found,
// and the child of a fork does not take its parent's handles for its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/spinlock.h"
#include "shm/rwlock/protocol.h"
#include "shm/sync/ops.h"
#include "shm/sync/thread_number.h"
#include "weft/rwlock.h"

namespace weft::shm {

using RealReaderRecord = ReaderRecord<RealOps>;

// A reader's handle. The public part comes first: the program has a pointer to it.
struct Reader : weft_rwlock_reader {
  weft_rwlock* lock;
  RealReaderRecord* own;
  uint64_t owner;   // ReaderRecord::owner, as long as the record is this reader's
  uint64_t thread;  // the number of the reader's thread
  Reader* next;
  // In the child of a fork the public part points here: a record that is always closed, so that each call comes to
  // weft_rwlock_enter_().
  uint32_t no_record[2];
  bool of_parent;
};

}  // namespace weft::shm

struct weft_rwlock {
  using Layout = weft::shm::RwlockLayout<weft::shm::RealOps>;

  weft_rwlock(Layout& memory, uint32_t count, bool writes) noexcept
      : layout(memory), records(count), may_write(writes), protocol(memory, count) {}

  Layout& layout;
  const uint32_t records;
  const bool may_write;  // whether the process can make the fences that a writer needs
  weft::shm::RwlockProtocol<weft::shm::RealOps> protocol;
  // The thread of this process that has the write lock. Relaxed: a thread only asks whether this is its own number.
  std::atomic<uint64_t> writer{weft::shm::kNobody};
  weft::platform::Spinlock list_lock;  // of `readers`, which is whole at each instruction
  weft::shm::Reader* readers = nullptr;
  weft_rwlock* next = nullptr;

  bool writes() const noexcept { return writer.load(std::memory_order_relaxed) == weft::shm::thread_number(); }
  void add(weft::shm::Reader* reader) noexcept;
  void remove(const weft::shm::Reader* reader) noexcept;
};

namespace weft::shm {

// The list of the process's attachments. In the child of a fork, what they know of threads is made void. enlist()
// returns false where the C library has no memory for the handler that does that.
bool enlist(weft_rwlock* lock) noexcept;
void strike(const weft_rwlock* lock) noexcept;

}  // namespace weft::shm
