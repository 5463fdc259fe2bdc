// SPDX-License-Identifier: Apache-2.0
// ordered loops under every schedule: the ordered blocks run in the order of the iterations.
#include "../support/check.h"
#include "../support/everywhere.h"

#define ORDERED(CLAUSE)                                                                                                \
  {                                                                                                                    \
    int next = 0, wrong = 0, bodies = 0;                                                                               \
    _Pragma("omp parallel num_threads(threads)")                                                                       \
    {                                                                                                                  \
      _Pragma(CLAUSE) for (int i = 0; i < 60; i++)                                                                     \
      {                                                                                                                \
        _Pragma("omp atomic") bodies++;                                                                                \
        if (i % 5 != 4) {                                                                                              \
          _Pragma("omp ordered")                                                                                       \
          {                                                                                                            \
            if (i < next) wrong++;                                                                                     \
            next = i;                                                                                                  \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    CHECK_EQ(wrong, 0);                                                                                                \
    CHECK_EQ(next, 58);                                                                                                \
    CHECK_EQ(bodies, 60);                                                                                              \
  }

static void schedules(int threads)
{
  ORDERED("omp for ordered")
  ORDERED("omp for ordered schedule(static, 3)")
  ORDERED("omp for ordered schedule(dynamic)")
  ORDERED("omp for ordered schedule(dynamic, 7)")
  ORDERED("omp for ordered schedule(guided)")
  ORDERED("omp for ordered schedule(runtime)")
  ORDERED("omp for ordered schedule(auto) nowait")
}

static void combined(int threads)
{
  int order[40], next = 0;
#pragma omp parallel for ordered schedule(dynamic) num_threads(threads)
  for (unsigned long long i = 40; i > 0; i--) {
#pragma omp ordered
    order[next++] = (int)i;
  }
  CHECK_EQ(next, 40);
  for (int i = 0; i < next; i++) CHECK_EQ(order[i], 40 - i);
}

int main(void)
{
  everywhere(schedules, combined);
  return check_result();
}
