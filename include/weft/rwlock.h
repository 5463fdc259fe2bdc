/* SPDX-License-Identifier: Apache-2.0 */
/* A reader-writer lock between processes, in memory that they share. A read lock costs one write to memory
 * and no atomic read-modify-write. If a process is killed, the others can still use the lock.
 *
 * One process makes the lock in shared memory (mmap, shm_open, memfd), and each process attaches to it, at whatever
 * address. A thread that reads registers first: it gets a reader's handle, with a record of its own in the lock.
 *
 *     weft_rwlock *lock;
 *     weft_rwlock_reader *reader;
 *     weft_rwlock_create(memory, weft_rwlock_size(64), 64, 0);   // once
 *     weft_rwlock_attach(&lock, memory, size);                   // each process
 *     weft_rwlock_register(&reader, lock);                       // each thread that reads
 *     weft_rwlock_rdlock(reader);  ...  weft_rwlock_rdunlock(reader);
 *     weft_rwlock_wrlock(lock);    ...  weft_rwlock_wrunlock(lock);
 *
 * Death. A reader that dies (its thread ends, its process is killed or executes another program) is taken out by the
 * writer that waits for it. A writer that dies before it has the lock leaves nothing. One that dies while it has the
 * lock may have left the data half written: the next weft_rwlock_wrlock() returns EOWNERDEAD, with the lock held. Its
 * caller mends the data and calls weft_rwlock_consistent(); if it unlocks without, all calls return ENOTRECOVERABLE
 * from then on. Read locks return EOWNERDEAD too, without the lock, until somebody has mended the data.
 *
 * Order. Readers do not wait for each other. A writer that waits keeps new readers out, so that readers may starve
 * beside writers that follow each other without a pause; with WEFT_RWLOCK_PHASE_FAIR each writer lets in the readers
 * that wait before the next writer. A reader that has the lock may lock again, and never waits then. A stopped process
 * (SIGSTOP) keeps what it has.
 *
 * Forks. Handles of readers are the parent's: in the child they return EPERM, and the child registers anew. The
 * attachment works in both. Children by clone(2) or _Fork() must not use handles of the parent.
 *
 * All calls may be made by any thread at any time, but for one reader's handle by one thread at a time, and not by
 * handlers of signals. They are no points of cancellation. Each returns 0 or the errno value that stands with it, and
 * weft_shm_error() (weft/shm.h) says more. ENOTRECOVERABLE and EOWNERDEAD mean the above wherever they occur.
 *
 * The calls that are in line here are also in the library, for other languages.
 *
 * The method: a record per reader with a flag, after Hsieh and Weihl ("Scalable reader-writer locks for parallel
 * systems", 1992); the fence of the reader moved to the writer by membarrier(2). */
#ifndef WEFT_RWLOCK_H
#define WEFT_RWLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "shm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One process's attachment to a lock. */
typedef struct weft_rwlock weft_rwlock;

/* A registered reader. What it holds is for the functions below alone. */
typedef struct weft_rwlock_reader {
  /* How often its owner has locked, with WEFT_RWLOCK_FENCED_ where the reader makes its fences itself; and behind it, on
   * the same line, whether the reader must ask before it goes in: not 0. */
  uint32_t *record;
} weft_rwlock_reader;

enum {
  /* The default: no reader comes in while a writer waits. */
  WEFT_RWLOCK_PREFER_WRITER = 0,
  /* Each writer lets in those readers that wait, before the next writer: no reader waits for more than two. */
  WEFT_RWLOCK_PHASE_FAIR = 1,
  /* Readers make full fences themselves, for machines or sandboxes without membarrier(2); also taken by itself where
   * the kernel of the process that makes the lock has none. */
  WEFT_RWLOCK_PORTABLE = 2
};

/* The most readers of one lock. */
#define WEFT_RWLOCK_MOST_READERS 65536u

/* Bytes that a lock for at most `readers` registered readers takes; 0 for 0 and for more than the most. */
size_t weft_rwlock_size(unsigned readers);

/* Makes a lock in `memory`, aligned to 64 bytes, of `size` bytes or more. What was there before is gone; nobody may be
 * attached to it. `flags`: WEFT_RWLOCK_... or 0.
 * EINVAL: null, not aligned, too small, no readers or too many, unknown flags. EACCES: the memory cannot be written. */
int weft_rwlock_create(void *memory, size_t size, unsigned readers, unsigned flags);

/* Attaches to the lock at `memory`, of which `size` bytes are mapped, writable and shared. The attachment is of memory
 * of the process's own; the lock's must stay mapped as long as it is used.
 * EINVAL: null, not aligned, too small. EACCES: mapped without the right to read or write. EAGAIN: the lock is still
 * being made after a second. EBADMSG: no lock, or one that was destroyed. EPROTO: made by another version of weft, or
 * by a program of another word size or byte order. ENOMEM. */
int weft_rwlock_attach(weft_rwlock **lock, void *memory, size_t size);

/* Ends the attachment, and the handles of threads that have ended. EBUSY: others are registered, or a thread of the
 * process that lives has the write lock. */
int weft_rwlock_detach(weft_rwlock *lock);

/* No process can attach any more. EBUSY: somebody is registered or has the write lock. */
int weft_rwlock_destroy(weft_rwlock *lock);

/* A record for the calling thread, until the thread unregisters or ends. EAGAIN: the lock has as many live readers as it
 * was made for; make the lock for more; or the thread has 2000 readers and write locks of all its locks together: when a
 * thread ends, the kernel frees 2048 at most. EBADMSG: the lock was destroyed. ENOMEM. */
int weft_rwlock_register(weft_rwlock_reader **reader, weft_rwlock *lock);

/* By the thread that has registered; by any one when that thread has ended, or is the parent's of this process. The
 * handle is gone then, unless the call fails. EBUSY: the reader has the lock. EPERM: another thread's, which lives. */
int weft_rwlock_unregister(weft_rwlock_reader *reader);

/* Takes the write lock. EDEADLK: the thread has it, or has a read lock, through whatever attachment. ENOSYS: the
 * lock relies on membarrier(2), which the process may not call, or not any more; it can read. Nothing is locked. EBADMSG: the lock was destroyed, or written over. */
int weft_rwlock_wrlock(weft_rwlock *lock);
/* The same, or EBUSY at once. */
int weft_rwlock_trywrlock(weft_rwlock *lock);
/* The same until `deadline` of CLOCK_MONOTONIC, then ETIMEDOUT. EINVAL: no time. */
int weft_rwlock_timedwrlock(weft_rwlock *lock, const struct timespec *deadline);
/* EPERM: the calling thread has not the write lock. */
int weft_rwlock_wrunlock(weft_rwlock *lock);

/* After EOWNERDEAD: the data is whole again. EINVAL: there was nothing to mend. EPERM: as above. */
int weft_rwlock_consistent(weft_rwlock *lock);

/* The same as weft_rwlock_rdlock() below, at once with EBUSY, or with ETIMEDOUT at `deadline` of CLOCK_MONOTONIC. */
int weft_rwlock_timedrdlock(weft_rwlock_reader *reader, const struct timespec *deadline);

/* The parts of the functions below that are not in line. */
int weft_rwlock_enter_(weft_rwlock_reader *reader);
int weft_rwlock_try_enter_(weft_rwlock_reader *reader);
int weft_rwlock_leave_(weft_rwlock_reader *reader);
int weft_rwlock_left_(weft_rwlock_reader *reader);

#define WEFT_RWLOCK_FENCED_ 0x40000000u
/* The most locks that a reader has. */
#define WEFT_RWLOCK_DEEPEST_ 0x3fffffffu

/* One more lock, or the first one: 1 if the reader has it now, 0 if it must ask. The reader's depth, the first word of
 * its record, is written by the reader alone while it is not waiting, so relaxed. The store of the depth and the load
 * behind it, of whether the record is closed, are ordered by a fence, the reader's own or the writer's. Acquire: nothing
 * that is read under the lock is read before. What the last writer has written was seen when the reader asked, as it has
 * to once after each writer. */
static inline int weft_rwlock_step_in_(weft_rwlock_reader *reader) {
  uint32_t *const record = reader->record;
  const uint32_t depth = __atomic_load_n(record, __ATOMIC_RELAXED);
  if (__builtin_expect(depth != 0, 0)) {
    if (depth != WEFT_RWLOCK_FENCED_) {
      if (__builtin_expect((depth & WEFT_RWLOCK_DEEPEST_) == WEFT_RWLOCK_DEEPEST_, 0)) return 0;
      __atomic_store_n(record, depth + 1u, __ATOMIC_RELAXED);
      return 1;
    }
    __atomic_exchange_n(record, WEFT_RWLOCK_FENCED_ | 1u, __ATOMIC_SEQ_CST);
  } else {
    __atomic_store_n(record, 1u, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the writer's membarrier makes the processor do the rest */
  }
  return __atomic_load_n(record + 1, __ATOMIC_ACQUIRE) == 0;
}

/* Takes a read lock, or one more where the reader has one. EDEADLK: the thread has the write lock. EPERM: the handle is
 * the parent's of this child. EAGAIN: the reader has 2^30 - 1 read locks. */
static inline int weft_rwlock_rdlock(weft_rwlock_reader *reader) {
  return __builtin_expect(weft_rwlock_step_in_(reader), 1) ? 0 : weft_rwlock_enter_(reader);
}

/* The same, or EBUSY at once. */
static inline int weft_rwlock_tryrdlock(weft_rwlock_reader *reader) {
  return __builtin_expect(weft_rwlock_step_in_(reader), 1) ? 0 : weft_rwlock_try_enter_(reader);
}

/* Gives back one read lock. EPERM: the reader has none. */
static inline int weft_rwlock_rdunlock(weft_rwlock_reader *reader) {
  uint32_t *const record = reader->record;
  const uint32_t depth = __atomic_load_n(record, __ATOMIC_RELAXED);
  /* Release: a writer that sees the depth 0 comes after what was read. Then whether a writer waits for this reader: it
   * may sleep. A reader that makes its fences itself makes none here. It may miss a writer that falls asleep at this
   * very moment, which therefore looks again by itself. */
  if (__builtin_expect(depth != 1u, 0)) {
    if (depth != (WEFT_RWLOCK_FENCED_ | 1u)) return weft_rwlock_leave_(reader);
    __atomic_store_n(record, WEFT_RWLOCK_FENCED_, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(record, 0u, __ATOMIC_RELEASE);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return __builtin_expect(__atomic_load_n(record + 1, __ATOMIC_RELAXED) == 0, 1) ? 0 : weft_rwlock_left_(reader);
}

#ifdef __cplusplus
}
#endif

#endif
