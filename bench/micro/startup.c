// SPDX-License-Identifier: Apache-2.0
// A process that starts and ends. Built with OpenMP it opens one region; built without it is what to compare with.
//   startup           a region of one member, so that the library is needed
//   startup team      a region of the default team
//   startup resident  the same, then the report: resident memory in KB, and which runtime was mapped
//   startup first     the report of the process's first region of the default team: its time, and what each member has
//                     brought of memory, mappings and OS threads
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

static double mappings(void) {
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  for (int c; maps && (c = fgetc(maps)) != EOF;) count += c == '\n';
  if (maps) fclose(maps);
  return count;
}

static int first_region(void) {
  int members = 0;
  double resident = resident_kb(), maps = mappings();
  double time = now();
#pragma omp parallel reduction(+ : members)
  members++;
  time = 1e3 * (now() - time);
  resident = (resident_kb() - resident) / members;
  maps = (mappings() - maps) / members;
  const double threads = count_threads();
  begin_report();
  report_text("benchmark", "first_region");
  report_number("team", members);
  report_samples("first_region", "ms", &time, 1);
  report_samples("resident_per_member", "KB", &resident, 1);
  report_samples("mappings_per_member", "", &maps, 1);
  report_samples("threads", "", &threads, 1);
  end_report();
  return members < 1;
}

int main(int argument_count, char** arguments) {
  int members = 0;
  if (argument_count < 2) {
#pragma omp parallel num_threads(1)
    members++;
    return members - 1;
  }
  if (strcmp(arguments[1], "first") == 0) return first_region();
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
