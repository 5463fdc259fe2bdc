// SPDX-License-Identifier: Apache-2.0
// A child by vfork() sets handlers for itself: its parent's stay.
#include "busy.h"

#include <signal.h>
#include <sys/wait.h>

static volatile sig_atomic_t calls = 0;

static void on_fault(int number) {
  (void)number;
  ++calls;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  char *array = make_array();
  CHECK(signal(SIGSEGV, on_fault) == SIG_DFL);
  while (goes_on()) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
    const pid_t child = vfork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  }
  raise(SIGSEGV);
  CHECK(calls == 1);
  return 0;
}
