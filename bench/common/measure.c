// SPDX-License-Identifier: Apache-2.0
#include "common/measure.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { most_repeats = 1000, least_repeats = 3 };
// One measurement ends after this long, if it has the least samples: peers need seconds for some constructs.
static const double patience = 2;

static int threads;
static int repeats = 15;
static double wanted = 2e-3;

int default_threads(void) { return threads; }

// Aligned, since the time of so short a loop depends on where it stands.
__attribute__((aligned(64), noinline)) void work_steps(int steps) {
  double x = 1;
  for (int i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  __asm__ volatile("" : : "m"(x));
}

void work(int units) { work_steps(units * 25); }

// The count that fills the wanted time, found by trying; the trials warm up.
static long calibrate(const measurement* self) {
  long count = 1;
  for (;;) {
    const double seconds = self->run(self, count);
    if (seconds >= wanted || count >= 1L << 24) return count;
    count *= seconds * 8 < wanted ? 8 : 2;
  }
}

static void measure(const measurement* self) {
  static double samples[most_repeats];
  const double start = now();
  const long count = self->run ? calibrate(self) : 1;
  int taken = 0;
  while (taken < repeats && (taken < least_repeats || now() - start < patience)) {
    samples[taken++] = self->run ? 1e9 * self->run(self, count) / (double)count : self->sample(self);
  }
  report_samples(self->name, self->run ? "ns" : self->unit, samples, taken);
}

static int positive(const char* option, const char* text, int most) {
  const int value = text ? atoi(text) : 0;
  if (value >= 1 && value <= most) return value;
  fprintf(stderr, "%s %s: a number from 1 to %d is wanted\n", option, text ? text : "", most);
  exit(2);
}

static const measurement* find(const measurement* measurements, const char* name) {
  while (measurements->name && strcmp(measurements->name, name) != 0) measurements++;
  return measurements;
}

int measure_family(int argument_count, char** arguments, const char* family, const measurement* measurements) {
  int first = 1;
  for (; first < argument_count && strncmp(arguments[first], "--", 2) == 0; first += 2) {
    // The vector of arguments ends with null, so a missing value is one.
    if (strcmp(arguments[first], "--repeat") == 0) {
      repeats = positive(arguments[first], arguments[first + 1], most_repeats);
    } else if (strcmp(arguments[first], "--milliseconds") == 0) {
      wanted = 1e-3 * positive(arguments[first], arguments[first + 1], 10000);
    } else {
      const int help = strcmp(arguments[first], "--help") == 0;
      fprintf(help ? stdout : stderr, "%s [--repeat N] [--milliseconds N] [NAME...]; the names:\n", family);
      for (const measurement* m = measurements; m->name; m++) fprintf(help ? stdout : stderr, "  %s\n", m->name);
      return help ? 0 : 2;
    }
  }
  for (int i = first; i < argument_count; i++) {
    if (find(measurements, arguments[i])->name) continue;
    fprintf(stderr, "%s: %s: no such measurement; --help lists them\n", family, arguments[i]);
    return 2;
  }
  threads = omp_get_max_threads();
  if (!getenv("OMP_MAX_ACTIVE_LEVELS")) omp_set_max_active_levels(2);
#pragma omp parallel
  work(1);

  begin_report();
  report_text("benchmark", family);
  report_number("team", threads);
  for (int i = first; i < argument_count; i++) measure(find(measurements, arguments[i]));
  if (first >= argument_count)
    for (const measurement* m = measurements; m->name; m++) measure(m);
  report_number("threads_at_end", count_threads());
  end_report();
  return 0;
}
