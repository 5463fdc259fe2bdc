// SPDX-License-Identifier: Apache-2.0
// Very many regions, one after the other: flat ones, inner ones in all members, with sizes that change, serial ones. Nothing
// may pile up: the memory in use is looked at too. The full million of each is in stress/.
#include "../support/check.h"

#include <omp.h>

#ifndef REGIONS
#define REGIONS 100000
#endif

static long resident_pages(void)
{
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
  fclose(file);
  return resident;
}

static void flat(int threads, long regions)
{
  long total = 0;
  for (long i = 0; i < regions; i++) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp atomic
      total++;
    }
  }
  CHECK_EQ(total, threads * regions);
}

static void changing(long regions)
{
  long total = 0, expected = 0;
  for (long i = 0; i < regions; i++) {
    int size = 1 + (int)(i % 5);
    expected += size;
#pragma omp parallel num_threads(size)
    {
#pragma omp atomic
      total++;
    }
  }
  CHECK_EQ(total, expected);
}

static void inner(int outer, int inside, long regions)
{
  long total = 0;
#pragma omp parallel num_threads(outer) reduction(+ : total)
  for (long i = 0; i < regions; i++) {
    long mine = 0;
#pragma omp parallel num_threads(inside)
    {
#pragma omp atomic
      mine++;
    }
    total += mine;
  }
  CHECK_EQ(total, outer * inside * regions);
}

static void serial(long regions)
{
  long total = 0;
#pragma omp parallel num_threads(2) reduction(+ : total)
  for (long i = 0; i < regions; i++) {
#pragma omp parallel if (0) reduction(+ : total)
    total++;
  }
  CHECK_EQ(total, 2 * regions);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  flat(2, 1000);
  inner(2, 2, 1000);
  changing(1000);
  long before = resident_pages();
  flat(2, TIMES(REGIONS));
  flat(4, TIMES(REGIONS / 20));
  changing(TIMES(REGIONS / 20));
  inner(2, 2, TIMES(REGIONS / 20));
  inner(4, 3, TIMES(REGIONS / 100));
  serial(TIMES(REGIONS));
  CHECK((resident_pages() - before) * 4096 < 64L << 20);
  return check_result();
}
