// SPDX-License-Identifier: Apache-2.0
// The loops that engines are compared by, for the program by weftcc (loops.c) and the one by hand (loops_tbb.cpp).
#pragma once

// An iteration: so many steps that depend on each other. No compiler removes them; a CPU runs the end of one iteration
// beside the beginning of the next, so that a step takes some 1.5 ns.
static inline void iterate(int steps) {
  double x = 1;
  for (int i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  __asm__ volatile("" : : "m"(x));
}

enum { SHORT = 110, LONG = 670 };  // some 0.15 us and 1 us
enum { FLAT = 64, ROWS = 8, COLUMNS = 64, TRIANGLE = 64 };
