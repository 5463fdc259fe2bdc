// SPDX-License-Identifier: Apache-2.0
#include "core/sched/parking.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

#include "base/address_hash.h"
#include "core/sched/scheduler.h"
#include "platform/spinlock.h"

namespace weft::core {

namespace {

struct Waiter {
  Context* context;
  const void* word;
  bool woken = false;  // guarded by the bucket's lock, as the list is
  Waiter* next = nullptr;
};

struct alignas(64) Bucket {
  platform::Spinlock lock;
  Waiter* first = nullptr;
  Waiter* last = nullptr;
};

constexpr unsigned kBits = 8;
std::array<Bucket, size_t{1} << kBits> g_buckets;

Bucket& bucket_of(const void* word) noexcept {
  return g_buckets[base::address_hash<kBits>(reinterpret_cast<uintptr_t>(word) >> 2)];
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
    // The waker takes it out under this lock, and does not touch it afterwards.
    bucket.lock.lock();
  }
  bucket.lock.unlock();
}

namespace {

constexpr int kTakenAtOnce = 16;
using Taken = std::array<Context*, kTakenAtOnce>;

// Up to `most` that wait for `word`. How many.
int take_waiters(Bucket& bucket, const void* word, int most, Taken& taken) noexcept {
  const std::lock_guard lock(bucket.lock);
  int count = 0;
  Waiter* previous = nullptr;
  for (Waiter* at = bucket.first; at != nullptr && count < most;) {
    Waiter* next = at->next;
    if (at->word == word) {
      (previous != nullptr ? previous->next : bucket.first) = next;
      if (bucket.last == at) bucket.last = previous;
      taken[static_cast<size_t>(count++)] = at->context;
      at->woken = true;
    } else {
      previous = at;
    }
    at = next;
  }
  return count;
}

}  // namespace

void unpark(const std::atomic<uint32_t>& word, int count) noexcept {
  Bucket& bucket = bucket_of(&word);
  for (int taken = kTakenAtOnce; taken == kTakenAtOnce && count > 0; count -= taken) {
    Taken contexts;
    taken = take_waiters(bucket, &word, std::min(count, kTakenAtOnce), contexts);
    // Without the lock: this may wake and even make threads. A context that goes on before is woken once more for
    // nothing.
    for (int i = 0; i < taken; ++i) unblock(contexts[static_cast<size_t>(i)]);
  }
}

void forget_parked() noexcept {
  for (Bucket& bucket : g_buckets) new (&bucket) Bucket;
}

}  // namespace weft::core
