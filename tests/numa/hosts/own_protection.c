// SPDX-License-Identifier: Apache-2.0
// It protects pages of its array itself, and handles the faults.
#include "busy.h"

#include <signal.h>
#include <sys/mman.h>

static char *array = NULL;
static volatile sig_atomic_t faults = 0;

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  char *at = info->si_addr;
  if (at < array || at >= array + SIZE) _exit(2);
  ++faults;
  at -= (size_t)at % PAGE;
  if (mprotect(at, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(3);
}

int main(int count, char **arguments) {
  begin(count, arguments);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
  array = aligned_alloc(PAGE, SIZE);
  CHECK(array != NULL);
  memset(array, 1, SIZE);
  long sum = 0;
  int expected = 0;
  for (size_t turn = 0; goes_on(); ++turn) {
    for (size_t i = 0; i < SIZE; i += PAGE) sum += array[i];
    char *at = array + turn * 31 % (SIZE / PAGE) * PAGE;
    CHECK(mprotect(at, PAGE, PROT_READ) == 0);
    at[7] = 1;
    CHECK(++expected == faults);
  }
  return 0;
}
