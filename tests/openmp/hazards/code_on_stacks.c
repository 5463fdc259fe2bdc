// SPDX-License-Identifier: Apache-2.0
// A program that runs code on its stacks, as nested functions of GNU C and Fortran do when they are passed on, says so in
// its file. So the stacks of its threads may run code.
#include <stdint.h>
#include <stdio.h>

#include "../support/check.h"

// What the memory at an address may be used for, as in "rwxp".
static int may_run_code(const void *address)
{
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  int found = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char access[8] = "";
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3) continue;
    if ((uintptr_t)address >= begin && (uintptr_t)address < end) found = access[2] == 'x';
  }
  if (maps != NULL) fclose(maps);
  return found;
}

int main(void)
{
  int threads = 0;
  int able = 0;
#pragma omp parallel num_threads(6) reduction(+ : threads, able)
  {
    int here = 0;
    threads++;
    able += may_run_code(&here);
  }
  CHECK_EQ(able, threads);
  return check_result();
}
