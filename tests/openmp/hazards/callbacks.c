// SPDX-License-Identifier: Apache-2.0
// OpenMP routines inside functions that a library calls back: comparators of qsort and bsearch, callbacks of dl_iterate_phdr,
// comparators that open regions, and clean-up handlers.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>

static _Thread_local int expected_number, expected_level, comparisons;

static void check_here(void)
{
  CHECK_EQ(omp_get_thread_num(), expected_number);
  CHECK_EQ(omp_get_level(), expected_level);
  comparisons++;
}

static void here(void)
{
  expected_number = omp_get_thread_num();
  expected_level = omp_get_level();
  comparisons = 0;
}

static int compare(const void *a, const void *b)
{
  check_here();
  return *(const int *)a - *(const int *)b;
}

// A parallel comparator: the region lies within qsort's frames.
static int compare_in_parallel(const void *a, const void *b)
{
  int x = 0, y = 0;
#pragma omp parallel num_threads(2) reduction(max : x, y)
  {
    x = *(const int *)a;
#pragma omp barrier
    y = *(const int *)b;
  }
  check_here();
  return x - y;
}

static int look(struct dl_phdr_info *info, size_t size, void *count)
{
  (void)info, (void)size;
  check_here();
  ++*(int *)count;
  return 0;
}

static void cleanup(void *count)
{
  check_here();
  ++*(int *)count;
}

static void called_back(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    here();
    int numbers[64], objects = 0, cleaned = 0;
    for (int i = 0; i < 64; i++) numbers[i] = i * 37 % 64;
    qsort(numbers, 64, sizeof *numbers, compare);
    for (int i = 0; i < 64; i++) CHECK_EQ(numbers[i], i);
    CHECK(bsearch(&numbers[17], numbers, 64, sizeof *numbers, compare) == &numbers[17]);
    CHECK(comparisons > 64);
#pragma omp barrier
    for (int i = 0; i < 8; i++) numbers[i] = i * 5 % 8;
    qsort(numbers, 8, sizeof *numbers, compare_in_parallel);
    for (int i = 0; i < 8; i++) CHECK_EQ(numbers[i], i);
    dl_iterate_phdr(look, &objects);
    CHECK(objects > 0);
    pthread_cleanup_push(cleanup, &cleaned);
#pragma omp barrier
    pthread_cleanup_pop(1);
    CHECK_EQ(cleaned, 1);
  }
}

int main(void)
{
  everywhere(called_back);
  return check_result();
}
