/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that wait until a test lets them go on: by the file "go", in the current folder. */
#include <stdio.h>
#include <unistd.h>

static void wait_for_go(void) {
  while (access("go", F_OK) != 0) usleep(2000);
}

/* The number of the process, for the test, in the file "pid". */
static void tell_pid(void) {
  FILE *file = fopen("pid.new", "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  rename("pid.new", "pid");
}
