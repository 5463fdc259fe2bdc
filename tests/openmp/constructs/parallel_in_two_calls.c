// SPDX-License-Identifier: Apache-2.0
// Regions whose beginning and end are two calls of the program, as in binaries by gcc 4.8: of one member and of several,
// outermost and inside each other, with other regions in between.
#include "../support/check.h"
#include "../support/everywhere.h"

void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);

// clang asks once in a function, since to it only its own constructs change the answers.
__attribute__((noinline)) static int level_now(void) { return omp_get_level(); }
__attribute__((noinline)) static int number_now(void) { return omp_get_thread_num(); }

struct region {
  int threads;
  int level;
  int members;
};

static void count(void *data)
{
  struct region *region = data;
  CHECK_EQ(omp_get_num_threads(), region->threads);
  CHECK_EQ(omp_get_level(), region->level);
  CHECK_IN(omp_get_thread_num(), 0, region->threads);
#pragma omp atomic
  region->members++;
  const int wanted = omp_get_active_level() < omp_get_max_active_levels() ? 2 : 1;
  int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
  inner++;
  CHECK_EQ(inner, wanted);
}

static void team_of(int threads, int inner_threads)
{
  const int level = level_now();
  const int number = number_now();
  struct region outer = {threads, level + 1, 0};
  GOMP_parallel_start(count, &outer, (unsigned)threads);
  count(&outer);
  struct region inner = {inner_threads, level + 2, 0};
  GOMP_parallel_start(count, &inner, (unsigned)inner_threads);
  count(&inner);
  GOMP_parallel_end();
  CHECK_EQ(inner.members, inner_threads);
  CHECK_EQ(level_now(), level + 1);
  CHECK_EQ(number_now(), 0);
  GOMP_parallel_end();
  CHECK_EQ(outer.members, threads);
  CHECK_EQ(level_now(), level);
  CHECK_EQ(number_now(), number);
}

static void sizes(int threads)
{
  for (int inner = 1; inner <= 4; inner *= 2) team_of(threads, inner);
}

int main(void)
{
  everywhere(sizes);
  return check_result();
}
