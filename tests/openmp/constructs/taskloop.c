// SPDX-License-Identifier: Apache-2.0
// taskloop with grainsize, num_tasks, nogroup, collapse and reductions: each iteration once, done at the end of the
// construct.
#include "../support/check.h"
#include "../support/everywhere.h"

static void loops(int threads)
{
  int times[5][200];
  memset(times, 0, sizeof times);
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 200; i++) times[0][i]++;
    for (int i = 0; i < 200; i++) CHECK_EQ(times[0][i], 1);
#pragma omp taskloop grainsize(7)
    for (long i = 199; i >= 0; i--) times[1][i]++;
    for (int i = 0; i < 200; i++) CHECK_EQ(times[1][i], 1);
#pragma omp taskloop num_tasks(13)
    for (unsigned long long i = 0; i < 400; i += 2) times[2][i / 2]++;
    for (int i = 0; i < 200; i++) CHECK_EQ(times[2][i], 1);
#pragma omp taskloop collapse(2) grainsize(3)
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 10; j++) times[3][10 * i + j]++;
    for (int i = 0; i < 200; i++) CHECK_EQ(times[3][i], 1);
#pragma omp taskloop nogroup
    for (int i = 0; i < 200; i++) times[4][i]++;
#pragma omp taskwait
    for (int i = 0; i < 200; i++) CHECK_EQ(times[4][i], 1);
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < 200; i++) sum += i;
    CHECK_EQ(sum, 19900);
  }
}

static void data(int threads)
{
  int base = 4, last = 0, total = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop firstprivate(base) lastprivate(last) shared(total) num_tasks(9)
    for (int i = 0; i < 90; i++) {
      last = i + base;
#pragma omp atomic
      total++;
    }
  }
  CHECK_EQ(last, 93);
  CHECK_EQ(total, 90);
}

int main(void)
{
  everywhere(loops, data);
  return check_result();
}
