// SPDX-License-Identifier: Apache-2.0
// A process that starts and ends. Built with OpenMP it opens one region; built without it is what to compare with.
//   startup           a region of one member, so that the library is needed
//   startup team      a region of the default team
//   startup resident  the same, then the report: resident memory in KB, and which runtime was mapped
#include <stdio.h>
#include <string.h>

#include "common/report.h"

static double resident_kb(void) {
  char line[256];
  long kb = 0;
  FILE* rollup = fopen("/proc/self/smaps_rollup", "r");
  while (rollup && fgets(line, sizeof line, rollup)) sscanf(line, "Rss: %ld", &kb);
  if (rollup) fclose(rollup);
  return (double)kb;
}

int main(int argument_count, char** arguments) {
  int members = 0;
  if (argument_count < 2) {
#pragma omp parallel num_threads(1)
    members++;
    return members - 1;
  }
#pragma omp parallel reduction(+ : members)
  members++;
  if (strcmp(arguments[1], "resident") != 0) return members < 1;
  const double resident = resident_kb();
  begin_report();
  report_text("benchmark", "startup");
  report_number("team", members);
  report_samples("resident", "KB", &resident, 1);
  end_report();
  return 0;
}
