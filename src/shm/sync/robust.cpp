// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/robust.h"

#include <cerrno>
#include <ctime>

#include "platform/cycles.h"
#include "shm/sync/runtime.h"
#include "shm/sync/wait.h"

namespace weft::shm {

namespace {

Taken result_of(int error) noexcept {
  switch (error) {
    case 0: return Taken::yes;
    case EOWNERDEAD: return Taken::after_death;
    case EBUSY:
    case ETIMEDOUT:
    case EDEADLK: return Taken::no;
    default: return Taken::refused;
  }
}

}  // namespace

bool Robust::make() noexcept {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  const bool made = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
                    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0 &&
                    pthread_mutex_init(&mutex_, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return made;
}

Taken Robust::try_take() noexcept { return result_of(pthread_mutex_trylock(&mutex_)); }

Taken Robust::take(int64_t deadline_ns) noexcept {
  if (!runtime().in_parallel()) {
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

void Robust::settle() noexcept { pthread_mutex_consistent(&mutex_); }

void Robust::give() noexcept { pthread_mutex_unlock(&mutex_); }

}  // namespace weft::shm
