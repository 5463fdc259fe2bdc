// SPDX-License-Identifier: Apache-2.0
// CPU time that the process uses when it has nothing to do: percent of one CPU, in the 200 ms that begin 20 ms after
// the last region.
#include <time.h>
#include <unistd.h>

#include "common/measure.h"

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void regions(int nested) {
  for (int i = 0; i < 100; i++) {
    if (nested) {
#pragma omp parallel num_threads(4)
      {
#pragma omp parallel num_threads(4)
        work(1);
      }
    } else {
#pragma omp parallel
      work(10);
    }
  }
}

static double sample(const measurement* self) {
  const double pause = 0.02, watched = 0.2;
  regions(self->a);
  usleep((useconds_t)(1e6 * pause));
  const double before = cpu_seconds(), start = now();
  usleep((useconds_t)(1e6 * watched));
  return 100 * (cpu_seconds() - before) / (now() - start);
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "after_region", .sample = sample, .unit = "%"},
                                             {.name = "after_nested", .a = 1, .sample = sample, .unit = "%"},
                                             {0}};
  return measure_family(argument_count, arguments, "idle", measurements);
}
