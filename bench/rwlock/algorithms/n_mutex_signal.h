// SPDX-License-Identifier: Apache-2.0
// N(mutex + signal): a mutex and a word per reader. The word keeps a reader from the mutex while the writer is on its
// way; it excludes nobody by itself, so that plain loads and stores do.
#pragma once

#include <atomic>
#include <new>

#include "rwlock/algorithms/mutex.h"
#include "rwlock/wait.h"

namespace bench {

class NMutexSignal {
 public:
  static size_t size(int readers) { return static_cast<size_t>(readers) * sizeof(Place); }
  static void make(void* segment, int readers) {
    for (int i = 0; i < readers; ++i) new (static_cast<Place*>(segment) + i) Place;
  }

 private:
  struct Place {
    Mutex main;
    alignas(64) std::atomic<int> signal{0};
  };

 public:
  class Reader {
   public:
    Reader(void* segment, int index, int) : place_(static_cast<Place*>(segment) + index) {}
    template <typename Body>
    void read(const Body& body) {
      // Relaxed: what a reader sees of the data is ordered by the mutex.
      for (Spin spin; place_->signal.load(std::memory_order_relaxed) != 0;) spin.once();
      place_->main.lock();
      body();
      place_->main.unlock();
    }

   private:
    Place* place_;
  };

  class Writer {
   public:
    Writer(void* segment, int readers) : places_(static_cast<Place*>(segment)), readers_(readers) {}
    void lock() {
      // Relaxed: as in read().
      for (int i = 0; i < readers_; ++i) places_[i].signal.store(1, std::memory_order_relaxed);
      for (int i = 0; i < readers_; ++i) places_[i].main.lock();
    }
    void unlock() {
      for (int i = 0; i < readers_; ++i) places_[i].main.unlock();
      // Relaxed: as in read().
      for (int i = 0; i < readers_; ++i) places_[i].signal.store(0, std::memory_order_relaxed);
    }

   private:
    Place* places_;
    int readers_;
  };
};

}  // namespace bench
