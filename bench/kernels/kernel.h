// SPDX-License-Identifier: Apache-2.0
// What the kernels share: the random numbers of the NAS Parallel Benchmarks (x' = 5^13 x mod 2^46), and how a result is told.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { random_bits = 46 };
static const uint64_t random_factor = 1220703125;  // 5^13
static const uint64_t random_mask = (UINT64_C(1) << random_bits) - 1;

static inline uint64_t next_random(uint64_t *seed)
{
  *seed = *seed * random_factor & random_mask;
  return *seed;
}

static inline double next_uniform(uint64_t *seed) { return (double)next_random(seed) * 0x1p-46; }

// The seed after `steps` numbers.
static inline uint64_t skip_random(uint64_t seed, uint64_t steps)
{
  for (uint64_t factor = random_factor; steps > 0; steps >>= 1, factor = factor * factor & random_mask)
    if (steps & 1) seed = seed * factor & random_mask;
  return seed;
}

static inline void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu values\n", count);
    exit(2);
  }
  return memory;
}

// One line: the value and whether it is what it must be. Returns 0 if so.
static inline int verdict(const char *name, double value, double expected, double tolerance)
{
  int right = fabs(value - expected) <= tolerance * fmax(1, fabs(expected));
  printf("%s %.10e %s\n", name, value, right ? "verified" : "WRONG");
  return !right;
}
