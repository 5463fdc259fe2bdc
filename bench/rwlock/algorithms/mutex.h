// SPDX-License-Identifier: Apache-2.0
// A POSIX mutex between processes, alone on its cache line.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>

namespace bench {

inline void check(int error, const char* call) {
  if (error == 0) return;
  std::fprintf(stderr, "rwlock: %s: error %d\n", call, error);
  std::exit(1);
}

class alignas(64) Mutex {
 public:
  explicit Mutex(bool robust = false) {
    pthread_mutexattr_t attributes;
    check(pthread_mutexattr_init(&attributes), "pthread_mutexattr_init");
    check(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), "pthread_mutexattr_setpshared");
    if (robust) check(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), "pthread_mutexattr_setrobust");
    check(pthread_mutex_init(&mutex_, &attributes), "pthread_mutex_init");
    pthread_mutexattr_destroy(&attributes);
  }
  void lock() {
    const int error = pthread_mutex_lock(&mutex_);
    if (error != 0) check(error == EOWNERDEAD ? pthread_mutex_consistent(&mutex_) : error, "pthread_mutex_lock");
  }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

}  // namespace bench
