// SPDX-License-Identifier: Apache-2.0
// What every benchmark program says at its end, as one JSON object.
#pragma once

#include <stdio.h>

// Seconds of a steady clock.
double now(void);

// How many OS threads this process has.
int count_threads(void);

// Where the report goes: a file, or "-" for stdout, which is also the default. Exits when it cannot be written.
void report_to(const char* path);

// {"runtimes":[...],"blas":[...],"threads":N  - paths of the OpenMP and BLAS libraries that are mapped, so that the
// runner can compare what it meant to measure with what came; and how many OS threads there are.
void begin_report(void);
// JSON has no infinity: what is not finite becomes null.
void report_number(const char* name, double value);
void report_text(const char* name, const char* value);
// One measurement of this name: all samples, in `unit`.
void report_samples(const char* name, const char* unit, const double* samples, int count);
void end_report(void);
