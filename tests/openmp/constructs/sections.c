// SPDX-License-Identifier: Apache-2.0
// sections and parallel sections: each section once, with fewer and with more members than sections.
#include "../support/check.h"
#include "../support/everywhere.h"

static void separate(int threads)
{
  int times[6] = {0}, after = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 12; round++) {
#pragma omp sections
    {
      times[0]++;
#pragma omp section
      times[1]++;
#pragma omp section
      times[2]++;
#pragma omp section
      times[3]++;
#pragma omp section
      times[4]++;
    }
    for (int i = 0; i < 5; i++) CHECK_EQ(times[i], round + 1);
#pragma omp barrier
#pragma omp sections nowait
    {
#pragma omp section
      {
#pragma omp atomic
        after++;
      }
    }
  }
  CHECK_EQ(after, 12);
}

static void combined(int threads)
{
  int times[4] = {0}, first = 3, sum = 0;
#pragma omp parallel sections num_threads(threads) firstprivate(first) reduction(+ : sum)
  {
#pragma omp section
    times[0]++, sum += first;
#pragma omp section
    times[1]++, sum += first;
#pragma omp section
    times[2]++, sum += first;
#pragma omp section
    times[3]++, sum += first;
  }
  for (int i = 0; i < 4; i++) CHECK_EQ(times[i], 1);
  CHECK_EQ(sum, 12);
#pragma omp parallel sections num_threads(threads) if (0)
  {
#pragma omp section
    times[0]++;
#pragma omp section
    CHECK_EQ(omp_get_num_threads(), 1);
  }
  CHECK_EQ(times[0], 2);
}

static void regions_inside(int threads)
{
  int total = 0;
#pragma omp parallel sections num_threads(threads)
  {
#pragma omp section
    {
#pragma omp parallel num_threads(4)
#pragma omp atomic
      total++;
    }
#pragma omp section
    {
#pragma omp parallel for num_threads(3)
      for (int i = 0; i < 10; i++) {
#pragma omp atomic
        total++;
      }
    }
  }
  CHECK_EQ(total, 14);
}

int main(void)
{
  everywhere(separate, combined, regions_inside);
  return check_result();
}
