// SPDX-License-Identifier: Apache-2.0
// 2N-mutex, the lock of PMIx's ds21: two mutexes per reader. A reader takes the first, then the second, and gives the
// first back. The writer takes all of the first, which keeps new readers away, and then all of the second.
#pragma once

#include <new>

#include "rwlock/algorithms/mutex.h"

namespace bench {

class TwoNMutex {
 public:
  static size_t size(int readers) { return static_cast<size_t>(readers) * sizeof(Pair); }
  static void make(void* segment, int readers) {
    for (int i = 0; i < readers; ++i) new (static_cast<Pair*>(segment) + i) Pair;
  }

 private:
  struct Pair {
    Mutex signal;
    Mutex main;
  };

 public:
  class Reader {
   public:
    Reader(void* segment, int index, int) : pair_(static_cast<Pair*>(segment) + index) {}
    template <typename Body>
    void read(const Body& body) {
      pair_->signal.lock();
      pair_->main.lock();
      pair_->signal.unlock();
      body();
      pair_->main.unlock();
    }

   private:
    Pair* pair_;
  };

  class Writer {
   public:
    Writer(void* segment, int readers) : pairs_(static_cast<Pair*>(segment)), readers_(readers) {}
    void lock() {
      for (int i = 0; i < readers_; ++i) pairs_[i].signal.lock();
      for (int i = 0; i < readers_; ++i) pairs_[i].main.lock();
    }
    void unlock() {
      for (int i = 0; i < readers_; ++i) pairs_[i].main.unlock();
      for (int i = 0; i < readers_; ++i) pairs_[i].signal.unlock();
    }

   private:
    Pair* pairs_;
    int readers_;
  };
};

}  // namespace bench
