// SPDX-License-Identifier: Apache-2.0
// Application threads that each open regions: the time of a fixed total of work over the ideal, which is the time that
// one thread needs for it without regions, divided by the CPUs. And the same work by threads that open no regions: what
// the system leaves of the ideal when more threads run than there are CPUs.
#include <pthread.h>
#include <stdlib.h>

#include "common/measure.h"

enum { chunks = 16, regions = 8192, chunk_units = 100, most_roots = 64 };

static pthread_barrier_t start_line;
static int regions_each;

static void* root(void* unused) {
  pthread_barrier_wait(&start_line);
  for (int i = 0; i < regions_each; i++) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < chunks; k++) work(chunk_units);
  }
  return unused;
}

static void* plain(void* unused) {
  pthread_barrier_wait(&start_line);
  for (int i = 0; i < regions_each; i++) {
    for (int k = 0; k < chunks; k++) work(chunk_units);
  }
  return unused;
}

static double run_threads(int roots, void* (*life)(void*)) {
  regions_each = regions / roots;
  double start = now();
  for (int i = 0; i < regions * chunks; i++) work(chunk_units);
  const double ideal = (now() - start) / default_threads();

  // The threads are there before the clock starts.
  pthread_t ids[most_roots];
  pthread_barrier_init(&start_line, NULL, (unsigned)roots + 1);
  for (int i = 0; i < roots; i++) {
    if (pthread_create(&ids[i], NULL, life, NULL) == 0) continue;
    fprintf(stderr, "roots: thread %d of %d cannot be made\n", i + 1, roots);
    exit(1);
  }
  start = now();
  pthread_barrier_wait(&start_line);
  for (int i = 0; i < roots; i++) pthread_join(ids[i], NULL);
  const double seconds = now() - start;
  pthread_barrier_destroy(&start_line);
  return seconds / ideal;
}

static double sample_roots(const measurement* self) { return run_threads(self->a, root); }
static double sample_plain(const measurement* self) { return run_threads(self->a, plain); }

#define ROOTS(N) {.name = "roots_" #N, .a = N, .sample = sample_roots, .unit = "x"}
#define PLAIN(N) {.name = "no_regions_" #N, .a = N, .sample = sample_plain, .unit = "x"}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {ROOTS(1),  ROOTS(2),  ROOTS(4),  ROOTS(8),
                                             ROOTS(16), ROOTS(32), ROOTS(64), PLAIN(32), {0}};
  return measure_family(argument_count, arguments, "roots", measurements);
}
