// SPDX-License-Identifier: Apache-2.0
// Pages are read-only until somebody writes to them: each of its faults reaches its handler once, in all threads.
#include "busy.h"

#include <signal.h>
#include <sys/mman.h>

enum { THREADS = 4, PAGES_EACH = 60 };

static char *array = NULL;
static volatile int faults = 0;

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  __sync_fetch_and_add(&faults, 1);
  char *at = info->si_addr;
  if (mprotect(at - (size_t)at % PAGE, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(3);
}

static void *work(void *argument) {
  char *mine = array + (size_t)argument * PAGES_EACH * PAGE;
  for (int i = 0; i < PAGES_EACH; ++i) mine[i * PAGE + 5] = 1;
  return NULL;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  array = aligned_alloc(PAGE, SIZE);
  CHECK(array != NULL);
  memset(array, 1, SIZE);
  const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
  const double half = now() + (limit - now()) / 2;
  while (now() < half) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  }
  while (goes_on()) {
    faults = 0;
    CHECK(mprotect(array, SIZE, PROT_READ) == 0);
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    CHECK(faults == THREADS * PAGES_EACH);
  }
  return 0;
}
