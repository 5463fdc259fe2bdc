// SPDX-License-Identifier: Apache-2.0
// What the programs have in common. Each takes the megabytes of its array and the seconds for which it uses it, and is
// meant for threads that are bound to the nodes: OMP_PROC_BIND=spread OMP_PLACES=cores. It prints a sum, to be sure that
// its loops are not left out.
#pragma once

#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BIND = 2, INTERLEAVE = 3 };  // policies of mbind(2)

static size_t length = 0;  // of the array
static double seconds = 1;

static inline void read_arguments(int count, char **arguments) {
  const size_t megabytes = count > 1 ? strtoul(arguments[1], NULL, 10) : 64;
  if (count > 2) seconds = strtod(arguments[2], NULL);
  length = megabytes * (1 << 20) / sizeof(double);
}

// Whole pages, so that a policy can be set for all of it.
static inline double *allocate(void) {
  double *array = aligned_alloc(4096, length * sizeof(double));
  if (array == NULL) abort();
  return array;
}

static inline int node_of_this_thread(void) {
  unsigned cpu = 0;
  unsigned node = 0;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return (int)node;
}

// The last node that is not `node`; `node` itself where there is no other.
static inline int other_node(int node) {
  for (int other = 63; other >= 0; --other) {
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", other);
    if (other != node && access(path, F_OK) == 0) return other;
  }
  return node;
}

static inline void place(void *begin, size_t bytes, int policy, unsigned long nodes) {
  if (syscall(SYS_mbind, begin, bytes, policy, &nodes, 65UL, 0UL) != 0) perror("mbind");
}

// The CPUs of a node, for a thread that is to stay there.
static inline void stay_on(int node) {
  char path[64];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  int first = 0;
  for (char next = ','; next == ',' && fscanf(file, "%d", &first) == 1;) {
    int last = first;
    next = (char)fgetc(file);
    if (next == '-') {
      if (fscanf(file, "%d", &last) != 1) break;
      next = (char)fgetc(file);
    }
    for (int cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &cpus);
  }
  fclose(file);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

static inline double sum_in_parallel(const double *array) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t i = 0; i < length; ++i) sum += array[i];
  return sum;
}

static inline void initialise_in_parallel(double *array) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < length; ++i) array[i] = 1;
}

static inline void initialise(double *array) {
  for (size_t i = 0; i < length; ++i) array[i] = 1;
}

// Again and again.
static inline void use(double (*pass)(const double *), const double *array) {
  double sum = 0;
  const double end = omp_get_wtime() + seconds;
  do {
    sum += pass(array);
  } while (omp_get_wtime() < end);
  printf("%g\n", sum);
}
