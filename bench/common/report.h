// SPDX-License-Identifier: Apache-2.0
// What every benchmark program says at its end, as one JSON object on stdout.
#pragma once

#include <stdio.h>

// Seconds of a steady clock.
double now(void);

// {"runtimes":[...],"threads":N  - paths of the OpenMP runtimes that are mapped, so that the runner can compare what it
// meant to measure with what came; and how many OS threads there are.
void begin_report(void);
void report_number(const char *name, double value);
void report_text(const char *name, const char *value);
// One measurement of this name: all samples, in `unit`.
void report_samples(const char *name, const char *unit, const double *samples, int count);
void end_report(void);
