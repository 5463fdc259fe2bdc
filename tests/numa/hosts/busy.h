// SPDX-License-Identifier: Apache-2.0
// Programs that must not notice that pages of their arrays are protected now and then. Each works for so many seconds
// (its argument) and exits with 0 when all was as it should be.
#pragma once

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 16 << 20, PAGE = 4096 };

static double limit = 0;

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline void begin(int count, char **arguments) { limit = now() + (count > 1 ? strtod(arguments[1], NULL) : 1); }
static inline int goes_on(void) { return now() < limit; }

static inline char *make_array(void) {
  char *array = malloc(SIZE);
  if (array == NULL) abort();
  memset(array, 1, SIZE);
  return array;
}

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #condition);     \
      _exit(1);                                                               \
    }                                                                         \
  } while (0)
