// SPDX-License-Identifier: Apache-2.0
#include "platform/service_thread.h"

#include <cerrno>
#include <cstring>

#include <pthread.h>
#include <signal.h>

#include <sys/prctl.h>

#include "platform/small_file.h"
#include "platform/system_call.h"

namespace weft::platform {

void name_service_thread(const char* name) noexcept { system_call(SYS_prctl, PR_SET_NAME, name); }

void leave_service_name() noexcept {
  char name[16] = "";
  system_call(SYS_prctl, PR_GET_NAME, name);
  if (std::strncmp(name, kServicePrefix, sizeof kServicePrefix - 1) != 0) return;
  // That of the initial thread, which has the number of the process; a line.
  if (!read_small_file("/proc/self/comm", name, sizeof name)) return;
  name[std::strcspn(name, "\n")] = '\0';
  name_service_thread(name);
}

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
