// SPDX-License-Identifier: Apache-2.0
// A process that is about to become another program (exec) is refused threads for a moment. A thread that asks again
// later has ended with the process by then, and says nothing of a refusal.
#pragma once

#include <cerrno>
#include <ctime>

#include <pthread.h>

#include "platform/system_call.h"

namespace weft::core {

// pthread_create(). `patient`: the system has not refused a thread before.
inline int create_thread(pthread_t* thread, const pthread_attr_t& attributes, void* (*start)(void*), void* argument,
                         bool patient) noexcept {
  constexpr timespec kNap{0, 10'000'000};
  constexpr int kTries = 10;
  int error = pthread_create(thread, &attributes, start, argument);
  for (int i = 1; error == EAGAIN && patient && i < kTries; ++i) {
    platform::system_call(SYS_nanosleep, &kNap, nullptr);
    error = pthread_create(thread, &attributes, start, argument);
  }
  return error;
}

}  // namespace weft::core
