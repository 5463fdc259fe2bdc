// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/robust.h"

#include <cerrno>
#include <ctime>

#include "platform/cycles.h"
#include "shm/sync/runtime.h"
#include "shm/sync/tsan.h"
#include "shm/sync/wait.h"

namespace weft::shm {

namespace {

// Normal, robust and shared, as the C library writes it down (nptl/pthreadP.h). It does not change while the mutex
// lives.
constexpr int kKind = 0x90;

Taken result_of(int error) noexcept {
  switch (error) {
    case 0: return Taken::yes;
    case EOWNERDEAD: return Taken::after_death;
    case EBUSY:
    case ETIMEDOUT: return Taken::no;
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

Taken Robust::try_take() noexcept { return is_one() ? result_of(pthread_mutex_trylock(&mutex_)) : Taken::refused; }

Taken Robust::take(int64_t deadline_ns) noexcept {
  if (!is_one()) return Taken::refused;
  // ThreadSanitizer may not know the call that waits until a time of this clock.
  const bool in_rounds = runtime().in_parallel() || (deadline_ns != kForever && is_watched_by_tsan());
  if (!in_rounds) {
    const timespec deadline{static_cast<time_t>(deadline_ns / kSecondNs), static_cast<long>(deadline_ns % kSecondNs)};
    return result_of(deadline_ns == kForever ? pthread_mutex_lock(&mutex_)
                                             : pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &deadline));
  }
  // The C library's wait would keep the CPU's user-level threads waiting too.
  for (Pause pause;;) {
    const Taken taken = try_take();
    if (taken != Taken::no || platform::now_ns() >= deadline_ns) return taken;
    pause.once();
  }
}

void Robust::settle() noexcept {
  if (is_one()) pthread_mutex_consistent(&mutex_);
}

void Robust::give() noexcept {
  if (is_one()) pthread_mutex_unlock(&mutex_);
}

}  // namespace weft::shm
