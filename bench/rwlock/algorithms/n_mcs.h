// SPDX-License-Identifier: Apache-2.0
// N-MCS: per reader a queue lock (Mellor-Crummey and Scott) of two, the reader and the writer. Who waits is known by a
// number instead of a pointer, so that each process may map the segment where it likes. The writer stands in all queues
// before it waits in the first: the waits overlap.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "rwlock/wait.h"

namespace bench {

class McsOfTwo {
 public:
  enum Who : uint32_t { kNobody, kReader, kWriter };

  void enqueue(Who me) {
    Place& mine = places_[me - 1];
    // Relaxed: the exchange below publishes both.
    mine.next.store(kNobody, std::memory_order_relaxed);
    mine.waits.store(1, std::memory_order_relaxed);
    // Acquire: what the last owner did is seen where nobody is before us. Release: our place is made before it is
    // found.
    const uint32_t before = tail_.exchange(me, std::memory_order_acq_rel);
    if (before == kNobody)
      // Relaxed: only this thread reads it then.
      mine.waits.store(0, std::memory_order_relaxed);
    else
      // Release: our place is made before the one before us hands over.
      places_[before - 1].next.store(me, std::memory_order_release);
  }
  void wait(Who me) {
    // Acquire: what the owner before us did is seen.
    for (Spin spin; places_[me - 1].waits.load(std::memory_order_acquire) != 0;) spin.once();
  }
  void unlock(Who me) {
    Place& mine = places_[me - 1];
    // Acquire: the place of the next one is made.
    uint32_t next = mine.next.load(std::memory_order_acquire);
    if (next == kNobody) {
      uint32_t expected = me;
      // Release: who comes next sees what we did. Relaxed: if it fails, nothing is read but `next`, which is loaded
      // again.
      if (tail_.compare_exchange_strong(expected, kNobody, std::memory_order_release, std::memory_order_relaxed))
        return;
      for (Spin spin; (next = mine.next.load(std::memory_order_acquire)) == kNobody;) spin.once();
    }
    places_[next - 1].waits.store(0, std::memory_order_release);
  }

 private:
  struct alignas(64) Place {
    std::atomic<uint32_t> next{kNobody};
    std::atomic<uint32_t> waits{0};
  };
  alignas(64) std::atomic<uint32_t> tail_{kNobody};
  Place places_[2];
};

class NMcs {
 public:
  static size_t size(int readers) { return static_cast<size_t>(readers) * sizeof(McsOfTwo); }
  static void make(void* segment, int readers) {
    for (int i = 0; i < readers; ++i) new (static_cast<McsOfTwo*>(segment) + i) McsOfTwo;
  }

  class Reader {
   public:
    Reader(void* segment, int index, int) : queue_(static_cast<McsOfTwo*>(segment) + index) {}
    template <typename Body>
    void read(const Body& body) {
      queue_->enqueue(McsOfTwo::kReader);
      queue_->wait(McsOfTwo::kReader);
      body();
      queue_->unlock(McsOfTwo::kReader);
    }

   private:
    McsOfTwo* queue_;
  };

  class Writer {
   public:
    Writer(void* segment, int readers) : queues_(static_cast<McsOfTwo*>(segment)), readers_(readers) {}
    void lock() {
      for (int i = 0; i < readers_; ++i) queues_[i].enqueue(McsOfTwo::kWriter);
      for (int i = 0; i < readers_; ++i) queues_[i].wait(McsOfTwo::kWriter);
    }
    void unlock() {
      for (int i = 0; i < readers_; ++i) queues_[i].unlock(McsOfTwo::kWriter);
    }

   private:
    McsOfTwo* queues_;
    int readers_;
  };
};

}  // namespace bench
