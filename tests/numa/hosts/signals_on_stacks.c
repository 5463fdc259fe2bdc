// SPDX-License-Identifier: Apache-2.0
// Signals arrive while a context runs on a stack that lies in an array: none is lost.
#include "busy.h"

#include <signal.h>
#include <ucontext.h>

static ucontext_t home;
static ucontext_t away;
static volatile int got = 0;
static volatile int sent = 0;

static void on_signal(int number) {
  (void)number;
  ++got;
}

static void descend(int depth) {
  volatile char room[3000];
  room[0] = room[sizeof room - 1] = (char)depth;
  ++sent;
  raise(SIGUSR1);
  if (depth > 0) descend(depth - 1);
  room[1] = 0;
}

static void run(void) { descend(2000); }

int main(int count, char **arguments) {
  begin(count, arguments);
  const struct sigaction action = {.sa_handler = on_signal};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  while (goes_on()) {
    char *stack = malloc(SIZE);
    CHECK(stack != NULL && getcontext(&away) == 0);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = SIZE;
    away.uc_link = &home;
    makecontext(&away, run, 0);
    CHECK(swapcontext(&home, &away) == 0);
    CHECK(sent == got);
    free(stack);
  }
  return 0;
}
