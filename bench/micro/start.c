// SPDX-License-Identifier: Apache-2.0
// A process that starts and ends; with OpenMP it opens one region of one member, so that it needs the library.
#include <stdio.h>
#include <string.h>

int main(void)
{
  int members = 0;
#pragma omp parallel num_threads(1)
  members++;
  char line[256];
  FILE *rollup = fopen("/proc/self/smaps_rollup", "r");
  while (rollup && fgets(line, sizeof line, rollup))
    if (strncmp(line, "Rss:", 4) == 0) fputs(line, stdout);
  return members - 1;
}
