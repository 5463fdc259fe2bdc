// SPDX-License-Identifier: Apache-2.0
// Ends in the way of its second argument while threads use an array.
#include "busy.h"

#include <signal.h>

static char *array = NULL;

static void *work(void *nothing) {
  for (;;) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  }
  return nothing;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  const char *how = count > 2 ? arguments[2] : "return";
  array = make_array();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  while (goes_on()) usleep(1000);
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "quick_exit") == 0) quick_exit(5);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "fault") == 0) *(volatile char *)8 = 1;
  if (strcmp(how, "raise") == 0) raise(SIGSEGV);
  if (strcmp(how, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
  return 0;
}
