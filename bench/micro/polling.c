// SPDX-License-Identifier: Apache-2.0
// Regions in which one member polls memory for another one that computes, as the progress threads of MPI programs do,
// with one CPU for both. Microseconds of a region once the runtime has seen some.
#include <omp.h>
#include <sched.h>

#include "common/measure.h"

enum { regions_before = 200, regions = 500, units = 500 };

static void region(int members) {
  int done = 0;
#pragma omp parallel num_threads(members)
  if (omp_get_thread_num() == 0) {
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != members - 1) continue;
  } else {
    work(units);
    __atomic_add_fetch(&done, 1, __ATOMIC_ACQ_REL);
  }
}

static double sample(const measurement* self) {
  static int seen;
  for (; seen < regions_before; seen++) region(self->a);
  const double start = now();
  for (int i = 0; i < regions; i++) region(self->a);
  return 1e6 * (now() - start) / regions;
}

// Before the runtime counts them.
__attribute__((constructor(101))) static void use_one_cpu(void) {
  cpu_set_t mine, one;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  int cpu = 0;
  while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &mine)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "poller_for_one", .a = 2, .sample = sample, .unit = "us"},
                                             {.name = "poller_for_three", .a = 4, .sample = sample, .unit = "us"},
                                             {0}};
  return measure_family(argument_count, arguments, "polling", measurements);
}
