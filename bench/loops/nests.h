// SPDX-License-Identifier: Apache-2.0
// The loops of loops.c and loops_tbb.cpp: how many iterations, and how long one takes.
#pragma once

// Steps of an iteration of a nest, some 0.15 us, and of one of a flat loop of so many us; see work_steps().
enum { short_steps = 104, flat_iterations = 64, steps_of_us = 690 };
static inline int flat_steps(int us) { return us * steps_of_us / flat_iterations; }

// Iterations of a nest's outer loop, and of the inner loop of outer iteration i.
enum shape { square, triangle, power_law };
struct nest {
  enum shape shape;
  int outer, inner;
};

static inline int inner_iterations(const struct nest* nest, int i) {
  switch (nest->shape) {
    case triangle: return i + 1;
    case power_law: return nest->inner / (i + 1);
    default: return nest->inner;
  }
}
