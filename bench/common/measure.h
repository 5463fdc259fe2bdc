// SPDX-License-Identifier: Apache-2.0
// The main program of a family of measurements: `PROGRAM [--repeat N] [--milliseconds N] NAME...`
#pragma once

#include "common/report.h"

typedef struct measurement measurement;

struct measurement {
  const char* name;
  // Runs the construct `count` times and returns the seconds it took. The family finds the count that fills some
  // milliseconds, repeats that, and reports nanoseconds of one construct.
  double (*run)(const measurement* self, long count);
  int a, b;  // parameters of `run` and `sample`, such as 8 x 8
  // Instead of `run`: one sample, in `unit`.
  double (*sample)(const measurement* self);
  const char* unit;
};

// The measurements end with one without a name. Without a NAME all are measured.
int measure_family(int argument_count, char** arguments, const char* family, const measurement* measurements);

// Threads of a team when nothing is said, as it was when the program began.
int default_threads(void);

// A fixed piece of work that no compiler removes: some 100 ns for each unit.
void work(int units);

// The same in small pieces of 1.5 ns. It is compiled once, so that loops by several compilers do the same work.
void work_steps(int steps);
