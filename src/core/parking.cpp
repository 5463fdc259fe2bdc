// SPDX-License-Identifier: Apache-2.0
#include "core/parking.h"

#include <array>
#include <new>

#include "core/scheduler.h"
#include "core/spinlock.h"

namespace weft::core {

namespace {

struct Waiter {
  Context* context;
  const void* word;
  bool woken = false;  // guarded by the bucket's lock, as the list is
  Waiter* next = nullptr;
};

struct alignas(64) Bucket {
  Spinlock lock;
  Waiter* first = nullptr;
  Waiter* last = nullptr;
};

constexpr size_t kBuckets = 256;
std::array<Bucket, kBuckets> g_buckets;

Bucket& bucket_of(const void* word) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(word) >> 2;
  return g_buckets[(address * 0x9E3779B97F4A7C15u) >> 56];
}

}  // namespace

void park(const std::atomic<uint32_t>& word, uint32_t expected) noexcept {
  Bucket& bucket = bucket_of(&word);
  Waiter waiter{.context = attach(), .word = &word};
  bucket.lock.lock();
  if (word.load() != expected) {
    bucket.lock.unlock();
    return;
  }
  (bucket.last != nullptr ? bucket.last->next : bucket.first) = &waiter;
  bucket.last = &waiter;
  while (!waiter.woken) {
    bucket.lock.unlock();
    block();
    // The waker unblocks under this lock, so afterwards it does not touch the waiter any more.
    bucket.lock.lock();
  }
  bucket.lock.unlock();
}

void unpark(const std::atomic<uint32_t>& word, int count) noexcept {
  Bucket& bucket = bucket_of(&word);
  bucket.lock.lock();
  Waiter* previous = nullptr;
  for (Waiter* at = bucket.first; at != nullptr && count > 0;) {
    Waiter* next = at->next;
    if (at->word == &word) {
      (previous != nullptr ? previous->next : bucket.first) = next;
      if (bucket.last == at) bucket.last = previous;
      at->woken = true;
      unblock(at->context);
      --count;
    } else {
      previous = at;
    }
    at = next;
  }
  bucket.lock.unlock();
}

void forget_parked() noexcept {
  for (Bucket& bucket : g_buckets) new (&bucket) Bucket;
}

}  // namespace weft::core
