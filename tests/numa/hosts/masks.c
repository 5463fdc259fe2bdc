// SPDX-License-Identifier: Apache-2.0
// Threads with all signals blocked, and handlers that block all, use the array.
#include "busy.h"

#include <signal.h>
#include <sys/time.h>

static char *array = NULL;
static volatile long sum = 0;
static volatile sig_atomic_t ticks = 0;

static void on_tick(int number) {
  (void)number;
  ++ticks;
  for (size_t i = 0; i < SIZE; i += PAGE) sum += array[i];
}

static void *work(void *nothing) {
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
  while (goes_on()) {
    for (size_t i = 0; i < SIZE; i += PAGE) ++array[i];
  }
  return nothing;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  array = make_array();
  struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval interval = {{0, 2000}, {0, 2000}};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  CHECK(setitimer(ITIMER_REAL, &interval, NULL) == 0);
  sigset_t most;
  sigfillset(&most);
  sigdelset(&most, SIGALRM);
  while (goes_on()) {
    sigsuspend(&most);
    for (size_t i = 0; i < SIZE; i += PAGE) sum += array[i];
  }
  CHECK(ticks > 0);
  const struct itimerval none = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
  pthread_join(thread, NULL);
  return 0;
}
