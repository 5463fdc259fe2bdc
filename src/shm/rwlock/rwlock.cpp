// SPDX-License-Identifier: Apache-2.0
// The functions of weft/rwlock.h. Misuse is found here; protocol.h does the rest.
#include "weft/rwlock.h"

#include <cerrno>
#include <cstddef>
#include <new>

#include "shm/error.h"
#include "shm/public.h"
#include "shm/rwlock/attachment.h"
#include "shm/segment/header.h"
#include "shm/sync/deadline.h"
#include "shm/sync/process_fence.h"
#include "shm/sync/tsan.h"

using namespace weft::shm;

namespace {

using Protocol = RwlockProtocol<RealOps>;
using Layout = Protocol::Layout;

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
static_assert(offsetof(RealReaderRecord, closed) == offsetof(RealReaderRecord, depth) + sizeof(uint32_t));
static_assert(RealReaderRecord::kFenced == WEFT_RWLOCK_FENCED_ && WEFT_RWLOCK_DEEPEST_ == WEFT_RWLOCK_FENCED_ - 1);

constexpr unsigned kFlags = WEFT_RWLOCK_PHASE_FAIR | WEFT_RWLOCK_PORTABLE;

// Explains an error code of the protocol to the caller (fail()).
int explain(int code, const char* name) noexcept {
  switch (code) {
    case EOWNERDEAD:
      return fail(code,
                  "%s: a writer has died while it had the lock; take the write lock, mend the data, and call "
                  "weft_rwlock_consistent()",
                  name);
    case ENOTRECOVERABLE:
      return fail(code, "%s: a writer has died, and the next one has not mended the data; make the lock anew", name);
    case ENOSYS:
      return fail(code,
                  "%s: the kernel refuses membarrier(2), which this lock's writers need; make the lock with "
                  "WEFT_RWLOCK_PORTABLE",
                  name);
    case EDEADLK:
      return fail(code, "%s: the calling thread has the write lock, or a read lock, which it must give back first",
                  name);
    default: return code;  // 0, and EBUSY and ETIMEDOUT, which are answers
  }
}

int of_parent(const char* name) noexcept {
  return fail(EPERM, "%s: the reader is the parent's of this process; call weft_rwlock_register() in the child", name);
}

// A lock that was destroyed while this process was attached to it.
int check_alive(const weft_rwlock& lock, const char* name) noexcept {
  // Relaxed: the state says that the lock must not be used any more, and orders nothing.
  if (lock.layout.header.state.load(std::memory_order_relaxed) == State::ready) return 0;
  return fail(EBADMSG, "%s: the lock was destroyed, or is being made anew; attach to it again", name);
}

Reader& own(weft_rwlock_reader* reader) noexcept { return *static_cast<Reader*>(reader); }

int enter(weft_rwlock_reader* handle, int64_t deadline_ns, const char* name) noexcept {
  Reader& reader = own(handle);
  if (reader.of_parent) {
    reader.no_record[0] = 0;
    return of_parent(name);
  }
  // Relaxed: the reader has written the count itself. One lock more would look like kFenced.
  if ((reader.own->depth.load(std::memory_order_relaxed) & WEFT_RWLOCK_DEEPEST_) == WEFT_RWLOCK_DEEPEST_) {
    return fail(EAGAIN, "%s: the reader has %u read locks, and no room to count one more; is none given back?", name,
                WEFT_RWLOCK_DEEPEST_);
  }
  const int code = reader.lock->protocol.enter(*reader.own, deadline_ns);
  if (code == 0) tsan_acquire(&reader.lock->layout.gate);
  return explain(code, name);
}

// Tells ThreadSanitizer that a writer that has the lock comes after the last writer and after all readers, whose
// unlocking is in line in the program.
void tell_tsan_of_writer(weft_rwlock& lock) noexcept {
  if (!is_watched_by_tsan()) return;
  tsan_acquire(&lock.layout.gate);
  for (uint32_t i = 0; i < lock.records; ++i) tsan_acquire(&lock.layout.record[i].depth);
}

int write_lock(weft_rwlock* lock, int64_t deadline_ns, const char* name) noexcept {
  if (lock == nullptr) return fail(EINVAL, "%s: null is no lock", name);
  if (const int gone = check_alive(*lock, name); gone != 0) return gone;
  const int code = lock->may_write ? lock->protocol.lock(deadline_ns) : ENOSYS;
  if (code == 0 || code == EOWNERDEAD) {
    lock->writer.store(thread_number(), std::memory_order_relaxed);
    tell_tsan_of_writer(*lock);
  }
  return explain(code, name);
}

// Whether no thread can use the handle any more: its thread has ended, or was the parent's before a fork.
bool has_gone(const Reader& reader) noexcept {
  return reader.of_parent || reader.lock->protocol.has_gone(*reader.own, reader.owner);
}

void free_handle(Reader* reader) noexcept {
  reader->lock->remove(reader);
  delete reader;
}

int not_writer(const char* name) noexcept { return fail(EPERM, "%s: the calling thread has not the write lock", name); }

}  // namespace

WEFT_PUBLIC size_t weft_rwlock_size(unsigned readers) {
  return readers == 0 || readers > WEFT_RWLOCK_MOST_READERS ? 0 : rwlock_bytes<RealOps>(readers);
}

WEFT_PUBLIC int weft_rwlock_create(void* memory, size_t size, unsigned readers, unsigned flags) {
  constexpr const char* kName = "weft_rwlock_create";
  if (memory == nullptr) return fail(EINVAL, "%s: null is no memory", kName);
  if (reinterpret_cast<uintptr_t>(memory) % kSegmentAlignment != 0) {
    return fail(EINVAL, "%s: %p is not aligned to %zu bytes; mmap() gives memory that is", kName, memory,
                kSegmentAlignment);
  }
  const size_t needed = weft_rwlock_size(readers);
  if (needed == 0) {
    return fail(EINVAL, "%s: %u readers; from 1 to %u are possible", kName, readers, WEFT_RWLOCK_MOST_READERS);
  }
  if (size < needed) {
    return fail(EINVAL, "%s: %zu bytes are too few: %u readers need %zu (weft_rwlock_size)", kName, size, readers,
                needed);
  }
  if ((flags & ~kFlags) != 0) {
    return fail(EINVAL, "%s: flags %#x are unknown; there are %#x", kName, flags & ~kFlags, kFlags);
  }
  if (!can_overwrite(memory, needed)) {
    return fail(
        EACCES,
        "%s: %zu bytes at %p cannot be written: map them with PROT_READ | PROT_WRITE, make the file long enough, "
        "and see whether its file system is full (df /dev/shm)",
        kName, needed, memory);
  }
  auto& layout = *static_cast<Layout*>(memory);
  begin_segment(layout.header, Kind::rwlock, kRwlockLayout, needed, home_of_memory(memory));
  const bool fenced = (flags & WEFT_RWLOCK_PORTABLE) != 0 || !can_fence_processes();
  Protocol::make(layout, readers, (flags & WEFT_RWLOCK_PHASE_FAIR) != 0, fenced);
  finish_segment(layout.header);
  return 0;
}

WEFT_PUBLIC int weft_rwlock_attach(weft_rwlock** lock, void* memory, size_t size) {
  constexpr const char* kName = "weft_rwlock_attach";
  if (lock == nullptr) return fail(EINVAL, "%s: null is no place for the attachment", kName);
  const int error = check_segment(memory, size, Kind::rwlock, kRwlockLayout, kName);
  if (error != 0) return error;
  auto& layout = *static_cast<Layout*>(memory);
  if (!can_read(memory, layout.header.size)) {
    return fail(EACCES, "%s: the file that is mapped ends before the lock does; it was cut off, or is another one",
                kName);
  }
  // Read once: another process may write over the number at any time.
  const uint32_t records = layout.records;
  if (records == 0 || records > WEFT_RWLOCK_MOST_READERS || rwlock_bytes<RealOps>(records) > layout.header.size ||
      rwlock_bytes<RealOps>(records) > size) {
    return fail(EBADMSG, "%s: the lock is damaged: something else has been written there", kName);
  }
  if (!can_overwrite(&layout.header.probe, sizeof layout.header.probe)) {
    return fail(EACCES, "%s: the lock is mapped for reading only; readers write too: map it with PROT_WRITE", kName);
  }
  settle_at(layout.header.home, home_of_memory(memory));
  auto* made = new (std::nothrow) weft_rwlock(layout, records, layout.fenced != 0 || can_fence_processes());
  if (made == nullptr) return fail(ENOMEM, "%s: no memory", kName);
  if (!enlist(made)) {
    delete made;
    return fail(ENOMEM, "%s: no memory for what a fork has to do", kName);
  }
  *lock = made;
  return 0;
}

WEFT_PUBLIC int weft_rwlock_detach(weft_rwlock* lock) {
  constexpr const char* kName = "weft_rwlock_detach";
  if (lock == nullptr) return fail(EINVAL, "%s: null is no lock", kName);
  const uint64_t writer = lock->writer.load(std::memory_order_relaxed);
  if (writer != kNobody && !lock->protocol.writer_has_gone(writer)) {
    return fail(EBUSY, "%s: a thread of this process has the write lock; unlock first", kName);
  }
  for (const Reader* reader = lock->readers; reader != nullptr; reader = reader->next) {
    if (!has_gone(*reader)) {
      return fail(EBUSY, "%s: a reader is registered through this attachment, and its thread lives; unregister first",
                  kName);
    }
  }
  while (lock->readers != nullptr) free_handle(lock->readers);
  strike(lock);
  delete lock;
  return 0;
}

WEFT_PUBLIC int weft_rwlock_destroy(weft_rwlock* lock) {
  if (lock == nullptr) return fail(EINVAL, "weft_rwlock_destroy: null is no lock");
  if (lock->protocol.in_use()) {
    return fail(EBUSY,
                "weft_rwlock_destroy: a reader is registered, or somebody has the write lock, in this process or "
                "another one");
  }
  // Release: as for all changes of the state.
  lock->layout.header.state.store(State::destroyed, std::memory_order_release);
  return 0;
}

WEFT_PUBLIC int weft_rwlock_register(weft_rwlock_reader** reader, weft_rwlock* lock) {
  constexpr const char* kName = "weft_rwlock_register";
  if (reader == nullptr || lock == nullptr) return fail(EINVAL, "%s: null is no lock, nor a place for a reader", kName);
  if (const int gone = check_alive(*lock, kName); gone != 0) return gone;
  if (robust_held() >= kMostLeases) {
    return fail(
        EAGAIN,
        "%s: the thread has %u readers and write locks; when it ends, the kernel frees 2048 at most: unregister "
        "some, or let several threads register",
        kName, robust_held());
  }
  auto* made = new (std::nothrow) Reader{};
  if (made == nullptr) return fail(ENOMEM, "%s: no memory", kName);
  // Done before the record is taken: a writer counts on the fence of each reader that it sees.
  const bool fenced = lock->layout.fenced != 0 || !take_part_in_fences();
  RealReaderRecord* const record = lock->protocol.claim(fenced);
  if (record == nullptr) {
    delete made;
    return fail(EAGAIN, "%s: the lock has its %u readers already; make it for more readers", kName,
                lock->layout.records);
  }
  tsan_acquire(
      &record->lease);  // the reader before, whose unlocking is seen by the record's word, which is written anew
  made->record = reinterpret_cast<uint32_t*>(&record->depth);
  made->lock = lock;
  made->own = record;
  made->owner = record->owner.load(std::memory_order_relaxed);  // its own thread has written it
  made->thread = thread_number();
  lock->add(made);
  *reader = made;
  return 0;
}

WEFT_PUBLIC int weft_rwlock_unregister(weft_rwlock_reader* handle) {
  constexpr const char* kName = "weft_rwlock_unregister";
  if (handle == nullptr) return fail(EINVAL, "%s: null is no reader", kName);
  Reader& reader = own(handle);
  if (reader.thread == thread_number() && !reader.of_parent) {
    if (RealReaderRecord::is_in(reader.own->depth.load(std::memory_order_relaxed))) {
      return fail(EBUSY, "%s: the reader has a read lock; unlock first", kName);
    }
    tsan_release(&reader.own->lease);
    reader.lock->protocol.leave(*reader.own);
  } else if (!has_gone(reader)) {
    return fail(EPERM, "%s: another thread has registered this reader, and lives", kName);
  }
  free_handle(&reader);
  return 0;
}

WEFT_PUBLIC int weft_rwlock_wrlock(weft_rwlock* lock) { return write_lock(lock, kForever, "weft_rwlock_wrlock"); }

WEFT_PUBLIC int weft_rwlock_trywrlock(weft_rwlock* lock) {
  return write_lock(lock, Protocol::kNow, "weft_rwlock_trywrlock");
}

WEFT_PUBLIC int weft_rwlock_timedwrlock(weft_rwlock* lock, const timespec* deadline) {
  constexpr const char* kName = "weft_rwlock_timedwrlock";
  int64_t deadline_ns = 0;
  const int error = to_deadline(deadline, kName, &deadline_ns);
  return error != 0 ? error : write_lock(lock, deadline_ns, kName);
}

WEFT_PUBLIC int weft_rwlock_wrunlock(weft_rwlock* lock) {
  constexpr const char* kName = "weft_rwlock_wrunlock";
  if (lock == nullptr) return fail(EINVAL, "%s: null is no lock", kName);
  if (!lock->writes()) return not_writer(kName);
  lock->writer.store(kNobody, std::memory_order_relaxed);
  tsan_release(&lock->layout.gate);
  lock->protocol.unlock();
  return 0;
}

WEFT_PUBLIC int weft_rwlock_consistent(weft_rwlock* lock) {
  constexpr const char* kName = "weft_rwlock_consistent";
  if (lock == nullptr) return fail(EINVAL, "%s: null is no lock", kName);
  if (!lock->writes()) return not_writer(kName);
  return lock->protocol.mend() ? 0 : fail(EINVAL, "%s: no writer has died, there is nothing to mend", kName);
}

WEFT_PUBLIC int weft_rwlock_timedrdlock(weft_rwlock_reader* handle, const timespec* deadline) {
  constexpr const char* kName = "weft_rwlock_timedrdlock";
  if (handle == nullptr) return fail(EINVAL, "%s: null is no reader", kName);
  int64_t deadline_ns = 0;
  if (const int error = to_deadline(deadline, kName, &deadline_ns); error != 0) return error;
  return weft_rwlock_step_in_(handle) != 0 ? 0 : enter(handle, deadline_ns, kName);
}

WEFT_PUBLIC int weft_rwlock_enter_(weft_rwlock_reader* handle) { return enter(handle, kForever, "weft_rwlock_rdlock"); }

WEFT_PUBLIC int weft_rwlock_try_enter_(weft_rwlock_reader* handle) {
  return enter(handle, Protocol::kNow, "weft_rwlock_tryrdlock");
}

WEFT_PUBLIC int weft_rwlock_left_(weft_rwlock_reader* handle) {
  Reader& reader = own(handle);
  if (!reader.of_parent) reader.lock->protocol.left(*reader.own);
  return 0;
}

// Unlocks for a reader that has locked more than once, or not at all.
WEFT_PUBLIC int weft_rwlock_leave_(weft_rwlock_reader* handle) {
  constexpr const char* kName = "weft_rwlock_rdunlock";
  Reader& reader = own(handle);
  if (reader.of_parent) return of_parent(kName);
  const uint32_t depth = reader.own->depth.load(std::memory_order_relaxed);  // its owner's
  if (!RealReaderRecord::is_in(depth)) return fail(EPERM, "%s: the reader has no read lock", kName);
  reader.own->depth.store(depth - 1, std::memory_order_relaxed);
  return 0;
}
