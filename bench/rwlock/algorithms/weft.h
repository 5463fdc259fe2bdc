// SPDX-License-Identifier: Apache-2.0
// weft/rwlock.h.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "weft/rwlock.h"

namespace bench {

template <unsigned kFlags>
class WeftRwlock {
  static void check(int error, const char* call) {
    if (__builtin_expect(error == 0, 1)) return;
    std::fprintf(stderr, "rwlock: %s: error %d: %s\n", call, error, weft_shm_error());
    std::exit(1);
  }
  static weft_rwlock* attach(void* segment, int readers) {
    weft_rwlock* lock = nullptr;
    check(weft_rwlock_attach(&lock, segment, size(readers)), "weft_rwlock_attach");
    return lock;
  }

 public:
  static size_t size(int readers) { return weft_rwlock_size(static_cast<unsigned>(readers)); }
  static void make(void* segment, int readers) {
    check(weft_rwlock_create(segment, size(readers), static_cast<unsigned>(readers), kFlags), "weft_rwlock_create");
  }

  class Reader {
   public:
    Reader(void* segment, int, int readers) {
      // What has been pointed to is loaded again at each use.
      weft_rwlock_reader* made = nullptr;
      check(weft_rwlock_register(&made, attach(segment, readers)), "weft_rwlock_register");
      reader_ = made;
    }
    template <typename Body>
    void read(const Body& body) {
      check(weft_rwlock_rdlock(reader_), "weft_rwlock_rdlock");
      body();
      check(weft_rwlock_rdunlock(reader_), "weft_rwlock_rdunlock");
    }

   private:
    weft_rwlock_reader* reader_ = nullptr;
  };

  class Writer {
   public:
    Writer(void* segment, int readers) : lock_(attach(segment, readers)) {}
    void lock() { check(weft_rwlock_wrlock(lock_), "weft_rwlock_wrlock"); }
    void unlock() { check(weft_rwlock_wrunlock(lock_), "weft_rwlock_wrunlock"); }

   private:
    weft_rwlock* lock_;
  };
};

}  // namespace bench
