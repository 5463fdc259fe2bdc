// SPDX-License-Identifier: Apache-2.0
// lastprivate and linear under every schedule: the value of the sequentially last iteration or section.
#include "../support/check.h"
#include "../support/everywhere.h"

#define LAST(CLAUSE)                                                                                                   \
  {                                                                                                                    \
    int last = -1, both = 1000, i;                                                                                     \
    double array[3] = {0, 0, 0};                                                                                       \
    _Pragma("omp parallel num_threads(threads)")                                                                       \
    {                                                                                                                  \
      _Pragma(CLAUSE) for (i = 0; i < 97; i += 2)                                                                      \
      {                                                                                                                \
        last = i;                                                                                                      \
        both = both >= 1000 ? 1000 + i : -1;                                                                           \
        array[1] = i;                                                                                                  \
      }                                                                                                                \
    }                                                                                                                  \
    CHECK_EQ(last, 96);                                                                                                \
    CHECK_EQ(both, 1096);                                                                                              \
    CHECK_EQ(i, 98);                                                                                                   \
    CHECK_NEAR(array[1], 96, 0);                                                                                       \
  }

static void schedules(int threads)
{
  LAST("omp for lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
  LAST("omp for schedule(static, 2) lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
  LAST("omp for schedule(dynamic) lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
  LAST("omp for schedule(dynamic, 5) lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
  LAST("omp for schedule(guided) lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
  LAST("omp for schedule(runtime) lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
  LAST("omp for schedule(auto) lastprivate(last, i, array) firstprivate(both) lastprivate(both)")
}

static void combined(int threads)
{
  int last = -1, i;
#pragma omp parallel for num_threads(threads) lastprivate(last, i) schedule(dynamic, 4)
  for (i = 0; i < 50; i++) last = i * 3;
  CHECK_EQ(last, 147);
  CHECK_EQ(i, 50);
}

// So many chunks that members take them from each other: the last one must come last to its member.
static void many_chunks(int threads)
{
  for (int round = 0; round < TIMES(5); round++) {
    int last = -1, i;
#pragma omp parallel for num_threads(threads) lastprivate(last, i) schedule(dynamic)
    for (i = 0; i < 20003; i++) last = i;
    CHECK_EQ(last, 20002);
    CHECK_EQ(i, 20003);
    long sum = 0;
#pragma omp parallel for num_threads(threads) lastprivate(last) reduction(+ : sum) schedule(nonmonotonic : dynamic, 3)
    for (long k = 0; k < 40000; k++) {
      last = (int)k * 2;
      sum += k;
    }
    CHECK_EQ(last, 79998);
    CHECK_EQ(sum, 40000l * 39999 / 2);
  }
}

static void in_sections(int threads)
{
  int last = -1;
#pragma omp parallel sections num_threads(threads) lastprivate(last)
  {
#pragma omp section
    last = 1;
#pragma omp section
    last = 2;
#pragma omp section
    last = 3;
  }
  CHECK_EQ(last, 3);
}

static void linear(int threads)
{
  int position = 10, seen[40] = {0};
#pragma omp parallel for num_threads(threads) linear(position : 3) schedule(dynamic, 3)
  for (int i = 0; i < 40; i++) {
    seen[i] = position;
    position += 3;
  }
  for (int i = 0; i < 40; i++) CHECK_EQ(seen[i], 10 + 3 * i);
  CHECK_EQ(position, 130);
}

#ifndef __clang__  // clang 19 takes the modifier for a plain lastprivate here
// Nobody sees the private copy before its own assignment, and an outer barrier does not disturb it.
static void conditional(int threads)
{
  int last = -5;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2) lastprivate(conditional : last)
  for (int i = 0; i < 60; i++)
    if (i % 7 == 0) last = i;
  CHECK_EQ(last, 56);
}
#endif

int main(void)
{
  everywhere(schedules, combined, many_chunks, in_sections, linear);
#ifndef __clang__
  everywhere(conditional);
#endif
  return check_result();
}
