// SPDX-License-Identifier: Apache-2.0
// A sequence lock, for scale: its readers exclude nobody. They read, and read again if somebody has written meanwhile,
// which suits only data that may be looked at while it changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "rwlock/wait.h"

namespace bench {

class Seqlock {
 public:
  static size_t size(int) { return sizeof(Word); }
  static void make(void* segment, int) { new (segment) Word; }

 private:
  struct alignas(64) Word {
    std::atomic<uint64_t> count{0};  // odd: somebody writes
  };

 public:
  class Reader {
   public:
    Reader(void* segment, int, int) : word_(static_cast<Word*>(segment)) {}
    template <typename Body>
    void read(const Body& body) {
      for (Spin spin;; spin.once()) {
        // Acquire: the data is read behind it, and is as new at least.
        const uint64_t before = word_->count.load(std::memory_order_acquire);
        if (before % 2 != 0) continue;
        body();
        // The fence holds the second look, relaxed, behind the reads of the data.
        std::atomic_thread_fence(std::memory_order_acquire);
        if (word_->count.load(std::memory_order_relaxed) == before) return;
      }
    }

   private:
    Word* word_;
  };

  class Writer {
   public:
    Writer(void* segment, int) : word_(static_cast<Word*>(segment)) {}
    void lock() {
      // Relaxed: there is one writer; the fence holds its data behind the odd number.
      word_->count.store(word_->count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_release);
    }
    void unlock() {
      // Release: the data is written before the even number.
      word_->count.store(word_->count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

   private:
    Word* word_;
  };
};

}  // namespace bench
