// SPDX-License-Identifier: Apache-2.0
// What POSIX has: the rwlock between processes, of both kinds, and a robust mutex per reader.
#pragma once

#include <new>

#include "rwlock/algorithms/mutex.h"

namespace bench {

template <int kKind>
class PthreadRwlock {
 public:
  static size_t size(int) { return sizeof(pthread_rwlock_t); }
  static void make(void* segment, int) {
    pthread_rwlockattr_t attributes;
    check(pthread_rwlockattr_init(&attributes), "pthread_rwlockattr_init");
    check(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), "pthread_rwlockattr_setpshared");
    check(pthread_rwlockattr_setkind_np(&attributes, kKind), "pthread_rwlockattr_setkind_np");
    check(pthread_rwlock_init(static_cast<pthread_rwlock_t*>(segment), &attributes), "pthread_rwlock_init");
    pthread_rwlockattr_destroy(&attributes);
  }

  class Reader {
   public:
    Reader(void* segment, int, int) : lock_(static_cast<pthread_rwlock_t*>(segment)) {}
    template <typename Body>
    void read(const Body& body) {
      check(pthread_rwlock_rdlock(lock_), "pthread_rwlock_rdlock");
      body();
      pthread_rwlock_unlock(lock_);
    }

   private:
    pthread_rwlock_t* lock_;
  };

  class Writer {
   public:
    Writer(void* segment, int) : lock_(static_cast<pthread_rwlock_t*>(segment)) {}
    void lock() { check(pthread_rwlock_wrlock(lock_), "pthread_rwlock_wrlock"); }
    void unlock() { pthread_rwlock_unlock(lock_); }

   private:
    pthread_rwlock_t* lock_;
  };
};

class NRobustMutex {
 public:
  static size_t size(int readers) { return static_cast<size_t>(readers) * sizeof(Mutex); }
  static void make(void* segment, int readers) {
    for (int i = 0; i < readers; ++i) new (static_cast<Mutex*>(segment) + i) Mutex(true);
  }

  class Reader {
   public:
    Reader(void* segment, int index, int) : mutex_(static_cast<Mutex*>(segment) + index) {}
    template <typename Body>
    void read(const Body& body) {
      mutex_->lock();
      body();
      mutex_->unlock();
    }

   private:
    Mutex* mutex_;
  };

  class Writer {
   public:
    Writer(void* segment, int readers) : mutexes_(static_cast<Mutex*>(segment)), readers_(readers) {}
    void lock() {
      for (int i = 0; i < readers_; ++i) mutexes_[i].lock();
    }
    void unlock() {
      for (int i = 0; i < readers_; ++i) mutexes_[i].unlock();
    }

   private:
    Mutex* mutexes_;
    int readers_;
  };
};

}  // namespace bench
