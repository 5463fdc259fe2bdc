// SPDX-License-Identifier: Apache-2.0
// Contexts run on stacks that lie in arrays, in all threads.
#include "busy.h"

#include <ucontext.h>

enum { THREADS = 3, STACK = 2 << 20 };

static __thread ucontext_t home;
static __thread ucontext_t away;
static __thread long turns;

static long descend(int depth) {
  volatile char room[3000];
  for (size_t i = 0; i < sizeof room; i += 512) room[i] = (char)depth;
  return depth == 0 ? 1 : descend(depth - 1) + room[512] - room[1024];
}

static void run(void) {
  for (;;) {
    CHECK(descend(400) == 1);
    ++turns;
    swapcontext(&away, &home);
  }
}

static void *work(void *nothing) {
  while (goes_on()) {
    char *stack = malloc(STACK);
    CHECK(stack != NULL);
    CHECK(getcontext(&away) == 0);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = STACK;
    away.uc_link = NULL;
    makecontext(&away, run, 0);
    for (int i = 0; i < 500 && goes_on(); ++i) swapcontext(&home, &away);
    free(stack);
  }
  CHECK(turns > 0);
  return nothing;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  work(NULL);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return 0;
}
