// SPDX-License-Identifier: Apache-2.0
// A pool of application threads that all call a library which is parallel inside: milliseconds that one call takes, with
// all callers at work. The callers go on for a fixed time, so that a sample ends soon under any runtime.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/measure.h"

enum { most_callers = 64, points = 128, steps = 50 };
static const double sample_seconds = 0.2;

static double end;
static atomic_long calls;

// The library: steps that follow each other, each a short parallel loop.
static void call(double* field) {
  for (int step = 0; step < steps; step++) {
#pragma omp parallel for
    for (int i = 0; i < points; i++) field[i] = 0.5 * (field[i] + (i + step) / field[i]);
  }
}

static void* caller(void* unused) {
  double field[points];
  for (int i = 0; i < points; i++) field[i] = 1 + i;
  while (now() < end) {
    call(field);
    // It only counts; joining the thread orders it before the sum is read.
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  }
  return unused;
}

static double sample(const measurement* self) {
  pthread_t ids[most_callers];
  atomic_store(&calls, 0);
  const double start = now();
  end = start + sample_seconds;
  for (int i = 0; i < self->a; i++) {
    if (pthread_create(&ids[i], NULL, caller, NULL) == 0) continue;
    fprintf(stderr, "callers: thread %d of %d cannot be made\n", i + 1, self->a);
    exit(1);
  }
  for (int i = 0; i < self->a; i++) pthread_join(ids[i], NULL);
  return 1e3 * (now() - start) / (double)calls;
}

#define CALLERS(N) {.name = "callers_" #N, .a = N, .sample = sample, .unit = "ms"}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {CALLERS(1), CALLERS(8), {0}};
  return measure_family(argument_count, arguments, "callers", measurements);
}
