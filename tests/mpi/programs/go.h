/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that wait until a test lets them go on: by the file "go", in the current folder. */
#include <stdio.h>
#include <unistd.h>

static void wait_for_file(const char *name) {
  while (access(name, F_OK) != 0) usleep(2000);
}
static void wait_for_go(void) { wait_for_file("go"); }

/* The number of the process, for the test, in a file; in "pid". */
static void tell_pid_in(const char *name) {
  char unfinished[100];
  snprintf(unfinished, sizeof unfinished, "%s.new", name);
  FILE *file = fopen(unfinished, "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  rename(unfinished, name);
}
static void tell_pid(void) { tell_pid_in("pid"); }
