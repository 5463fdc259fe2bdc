// SPDX-License-Identifier: Apache-2.0
// It handles faults at a page of its own, which it protects again and again, and is told of its own handler alone.
#include "busy.h"

#include <signal.h>
#include <sys/mman.h>

static char *page = NULL;
static volatile sig_atomic_t faults = 0;

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  if (info->si_addr != page + 5) _exit(2);
  ++faults;
  if (mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(3);
}

int main(int count, char **arguments) {
  begin(count, arguments);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  struct sigaction told;
  CHECK(sigaction(SIGSEGV, &action, &told) == 0 && told.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGSEGV, NULL, &told) == 0 && told.sa_sigaction == on_fault);
  char *array = make_array();
  page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  int caused = 0;
  long sum = 0;
  const double half = now() + (limit - now()) / 2;
  while (goes_on()) {
    for (size_t i = 0; i < SIZE; i += 64) sum += array[i];
    CHECK(sum % (SIZE / 64) == 0);
    if (now() < half) continue;
    page[5] = 1;
    CHECK(++caused == faults);
    CHECK(mprotect(page, PAGE, PROT_NONE) == 0);
  }
  CHECK(caused > 0);
  // A signal that is sent reaches it as well.
  page = (char *)-1;
  return 0;
}
