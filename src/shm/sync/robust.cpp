// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/robust.h"

#include <algorithm>
#include <cerrno>

#include <linux/futex.h>

#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/generation.h"
#include "shm/sync/runtime.h"
#include "shm/sync/wait.h"

namespace weft::shm {

namespace {

// Normal, robust and shared, as the C library writes it down (nptl/pthreadP.h). It does not change while the mutex
// lives.
constexpr int kKind = 0x90;

// Who is killed just when it has been woken takes the waking with it, so nobody relies on it for longer.
constexpr int64_t kLongestSleepNs = 100'000'000;

// The word holds the number of the thread that has the mutex, as it is in that thread's PID namespace; 0: nobody has
// it.
bool has_owner(uint32_t word) noexcept { return word != 0 && (word & FUTEX_OWNER_DIED) == 0; }

// How many the calling thread has. The C library empties the list of the thread that a fork leaves.
struct Held {
  uint32_t generation;  // of the process that it is for
  uint32_t count;
};
thread_local Held t_held{0, 0};

Held& held() noexcept {
  if (t_held.generation != platform::generation()) t_held = {platform::generation(), 0};
  return t_held;
}

Taken result_of(int error) noexcept {
  switch (error) {
    case 0: return Taken::yes;
    case EOWNERDEAD: return Taken::after_death;
    case EBUSY: return Taken::no;
    default: return Taken::refused;
  }
}

}  // namespace

bool Robust::make() noexcept {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  const bool made = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
                    pthread_mutex_init(&mutex_, &attributes) == 0 && is_one();
  pthread_mutexattr_destroy(&attributes);
  return made;
}

bool Robust::is_one() const noexcept { return mutex_.__data.__kind == kKind; }

std::atomic<uint32_t>& Robust::word() noexcept {
  static_assert(sizeof(mutex_.__data.__lock) == sizeof(std::atomic<uint32_t>) &&
                std::atomic<uint32_t>::is_always_lock_free);
  return reinterpret_cast<std::atomic<uint32_t>&>(mutex_.__data.__lock);
}

// Relaxed: it only says whether to try; the C library's exchange is what orders.
//
// While the C library tries, the kernel knows the mutex as one that the thread is about to have. If the thread is
// killed then, and the word holds its number, the kernel takes it for the owner. In another PID namespace the owner,
// alive, may have the same number. So nobody tries where there is an owner, for what is some instructions at most.
Taken Robust::try_take() noexcept {
  if (!is_one()) return Taken::refused;
  if (has_owner(word().load(std::memory_order_relaxed))) return Taken::no;
  const Taken taken = result_of(pthread_mutex_trylock(&mutex_));
  if (taken == Taken::yes || taken == Taken::after_death) ++held().count;
  return taken;
}

// The C library's own wait is not used: it sleeps while the kernel knows the mutex as above.
Taken Robust::take(int64_t deadline_ns) noexcept {
  const bool in_parallel = runtime().in_parallel();
  Pause pause;
  for (bool slept = false;;) {
    const Taken taken = try_take();
    if (taken != Taken::no) {
      // Giving it back wakes one sleeper, and only where the word says that there is one. Who has slept does not know
      // whether it was the only one. Relaxed: the word is the caller's, and who gives it back exchanges it.
      const bool owns = taken == Taken::yes || taken == Taken::after_death;
      if (slept && owns) word().fetch_or(FUTEX_WAITERS, std::memory_order_relaxed);
      return taken;
    }
    if (in_parallel) {
      // A sleep would keep the CPU's user-level threads waiting too.
      if (platform::now_ns() >= deadline_ns) return Taken::no;
      pause.once();
      continue;
    }
    // Announced even by who is about to give up: it may have been woken in the place of another sleeper, and somebody
    // who never slept has come first.
    uint32_t found = word().load(std::memory_order_relaxed);
    if (!has_owner(found)) continue;
    // Relaxed: the kernel compares the word again, under a lock of its own, before it puts the caller to sleep.
    if ((found & FUTEX_WAITERS) == 0 &&
        !word().compare_exchange_strong(found, found | FUTEX_WAITERS, std::memory_order_relaxed)) {
      continue;
    }
    const int64_t left = deadline_ns - platform::now_ns();
    if (left <= 0) return Taken::no;
    platform::futex_wait_shared(word(), found | FUTEX_WAITERS, std::min(left, kLongestSleepNs));
    slept = true;
  }
}

void Robust::settle() noexcept {
  if (is_one()) pthread_mutex_consistent(&mutex_);
}

void Robust::give() noexcept {
  if (is_one() && pthread_mutex_unlock(&mutex_) == 0) --held().count;
}

uint32_t robust_held() noexcept { return held().count; }

}  // namespace weft::shm
