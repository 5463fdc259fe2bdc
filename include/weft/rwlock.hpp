// SPDX-License-Identifier: Apache-2.0
// weft/rwlock.h for C++17: what has registered or attached goes with its object, and the standard's guards lock.
//
//     weft::RwLock::create(memory, size, 64);                 // once
//     weft::RwLock lock(memory, size, mend);                  // each process
//     thread_local weft::RwLock::Reader reader(lock);         // each thread that reads
//     { std::shared_lock guard(reader);  ... }                // reads
//     { std::unique_lock guard(lock);  ... }                  // writes
//
// What the calls of weft/rwlock.h return as an error is thrown as a weft::ShmError, but for EBUSY and ETIMEDOUT of calls
// that try: these return false.
#ifndef WEFT_RWLOCK_HPP
#define WEFT_RWLOCK_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>         // std::unique_lock, which users lock with
#include <shared_mutex>  // std::shared_lock, too
#include <utility>

#include "rwlock.h"
#include "shm.hpp"

namespace weft {

namespace detail {

// CLOCK_MONOTONIC, which is the steady clock on Linux.
inline timespec to_timespec(std::chrono::steady_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds);
  return {static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
}

// Of a call that tries: whether the caller has the lock.
inline bool tried(int error) {
  if (error == EBUSY || error == ETIMEDOUT) return false;
  check_shm(error);
  return true;
}

}  // namespace detail

// An attachment. It meets the standard's requirements TimedLockable: as such it is the write lock.
class RwLock {
 public:
  class Reader;

  // Bytes for at most `readers` registered readers; 0 for too many.
  static std::size_t size(unsigned readers) noexcept { return weft_rwlock_size(readers); }
  static void create(void* memory, std::size_t size, unsigned readers, unsigned flags = WEFT_RWLOCK_PREFER_WRITER) {
    check_shm(weft_rwlock_create(memory, size, readers, flags));
  }

  // `mend` makes the data whole when a writer has died, with the write lock held: for whoever locks next, to write or
  // to read. Where it throws, and in writers without it, the lock is given back as it is: whoever locks gets
  // ENOTRECOVERABLE from then on. Readers without it get EOWNERDEAD until somebody has mended the data.
  RwLock(void* memory, std::size_t size, std::function<void()> mend = {}) : mend_(std::move(mend)) {
    check_shm(weft_rwlock_attach(&lock_, memory, size));
  }
  // Its readers are gone, and no thread has the write lock.
  ~RwLock() { weft_rwlock_detach(lock_); }
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  void lock() { take(weft_rwlock_wrlock(lock_)); }
  bool try_lock() { return take(weft_rwlock_trywrlock(lock_)); }
  bool try_lock_until(std::chrono::steady_clock::time_point time) {
    const timespec deadline = detail::to_timespec(time);
    return take(weft_rwlock_timedwrlock(lock_, &deadline));
  }
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> duration) {
    return try_lock_until(std::chrono::steady_clock::now() + duration);
  }
  void unlock() { check_shm(weft_rwlock_wrunlock(lock_)); }

  // No process can attach any more.
  void destroy() { check_shm(weft_rwlock_destroy(lock_)); }

 private:
  bool take(int error) {
    if (error != EOWNERDEAD) return detail::tried(error);
    const ShmError died(error);
    struct GiveBack {
      weft_rwlock* lock;
      ~GiveBack() {
        if (lock != nullptr) weft_rwlock_wrunlock(lock);
      }
    } give_back{lock_};
    if (!mend_) throw died;
    mend_();
    check_shm(weft_rwlock_consistent(lock_));
    give_back.lock = nullptr;
    return true;
  }

  weft_rwlock* lock_ = nullptr;
  std::function<void()> mend_;
};

// A registered reader: of the thread that makes it, which also ends it. It meets the requirements SharedTimedLockable as
// far as std::shared_lock needs them.
class RwLock::Reader {
 public:
  // The lock must live as long.
  explicit Reader(RwLock& lock) : lock_(lock) { check_shm(weft_rwlock_register(&reader_, lock.lock_)); }
  ~Reader() { weft_rwlock_unregister(reader_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void lock_shared() {
    read([&] { return weft_rwlock_rdlock(reader_); }, [&] { return lock_.lock(), true; });
  }
  bool try_lock_shared() {
    return read([&] { return weft_rwlock_tryrdlock(reader_); }, [&] { return lock_.try_lock(); });
  }
  bool try_lock_shared_until(std::chrono::steady_clock::time_point time) {
    const timespec deadline = detail::to_timespec(time);
    return read([&] { return weft_rwlock_timedrdlock(reader_, &deadline); },
                [&] { return lock_.try_lock_until(time); });
  }
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> duration) {
    return try_lock_shared_until(std::chrono::steady_clock::now() + duration);
  }
  void unlock_shared() { check_shm(weft_rwlock_rdunlock(reader_)); }

 private:
  // Whether the reader has the lock. Where a writer has died, `write` comes first, which mends the data.
  template <class Read, class Write>
  bool read(Read&& read, Write&& write) {
    int error = read();
    while (error == EOWNERDEAD && lock_.mend_) {
      if (!write()) return false;
      lock_.unlock();
      error = read();
    }
    return detail::tried(error);
  }

  RwLock& lock_;
  weft_rwlock_reader* reader_ = nullptr;
};

}  // namespace weft

#endif
