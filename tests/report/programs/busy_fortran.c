// SPDX-License-Identifier: Apache-2.0
// busy.h for busy.f90. gfortran may leave out calls of its own functions that have no effect; it keeps these.
#include "busy.h"

void busy_calibrate(void) { calibrate(); }

int busy_steps_of(double microseconds) { return (int)steps_of(microseconds); }

double busy_work(int steps) { return work(steps); }
