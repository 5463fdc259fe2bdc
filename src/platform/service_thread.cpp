// SPDX-License-Identifier: Apache-2.0
#include "platform/service_thread.h"

#include <cerrno>

#include <pthread.h>
#include <signal.h>

namespace weft::platform {

bool start_service_thread(void* (*run)(void*), void* argument, size_t stack_size) noexcept {
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_t usual = attributes;
  pthread_attr_setstacksize(&attributes, stack_size);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run, argument);
  // The program's thread-local data lies on the stack too, and may want more than that.
  if (error == EINVAL) error = pthread_create(&thread, &usual, run, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return error == 0;
}

}  // namespace weft::platform
