// SPDX-License-Identifier: Apache-2.0
// Work of a known length, for programs whose faults are planted: arithmetic, no sleep and no system call, so that it is
// as long wherever it runs. Each step waits for the one before, so two CPUs of one core do not slow each other.
//
// The checksum of a program is the number of its pieces of work. A program with the fault and one without it
// (-DFIXED) print the same.
#pragma once

#include <stdio.h>
#include <time.h>

static double steps_per_microsecond = 0;

// 1, and the compiler does not know it.
static volatile double one = 1;

// Returns 1. Pieces of less than a microsecond overlap, and are shorter than the steps say.
static __attribute__((noinline)) double work(long steps) {
  double x = one;
  for (long i = 0; i < steps; ++i) x = x * 0.5 + 0.5;
  return x;
}

// Wall time, which the programs measure by too.
static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Before all else: some hundredths of a second. The best of many tries is one that nothing disturbed.
static inline void calibrate(void) {
  enum { TRIES = 16, STEPS = 400000 };
  double best = 1e9;
  for (int i = 0; i < TRIES; ++i) {
    const double start = seconds_now();
    work(STEPS);
    const double seconds = seconds_now() - start;
    if (seconds < best) best = seconds;
  }
  steps_per_microsecond = STEPS / (best * 1e6);
}

static inline long steps_of(double microseconds) {
  const long steps = (long)(microseconds * steps_per_microsecond);
  return steps > 0 ? steps : 1;
}

static inline int print_checksum(double sum) {
  printf("checksum %.0f\n", sum);
  return 0;
}
