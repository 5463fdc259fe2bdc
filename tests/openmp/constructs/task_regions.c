// SPDX-License-Identifier: Apache-2.0
// Regions inside tasks, and tasks of those, while the outer team waits at its barrier or at a taskwait.
#include "../support/check.h"
#include "../support/everywhere.h"

static void regions_in_tasks(int threads)
{
  int members = 0, level = omp_get_level();
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 12; i++) {
#pragma omp task shared(members)
    {
#pragma omp parallel num_threads(3) shared(members)
      {
        CHECK_EQ(omp_get_num_threads(), 3);
        CHECK_EQ(omp_get_level(), level + 2);
#pragma omp atomic
        members++;
#pragma omp barrier
        int seen;
#pragma omp atomic read
        seen = members;
        CHECK(seen >= 3);
      }
    }
  }
  CHECK_EQ(members, 36);
}

static void tasks_in_regions_in_tasks(int threads)
{
  int leaves = 0;
#pragma omp parallel num_threads(threads)
  {
    int mine = 0;
#pragma omp task shared(mine, leaves)
    {
#pragma omp parallel num_threads(2) shared(mine, leaves)
      {
        for (int i = 0; i < 10; i++) {
#pragma omp task shared(leaves)
          {
#pragma omp atomic
            leaves++;
          }
        }
#pragma omp taskwait
#pragma omp atomic
        mine++;
      }
    }
#pragma omp taskwait
    CHECK_EQ(mine, 2);
  }
  CHECK_EQ(leaves, 20 * threads);
}

static void loops_in_tasks(int threads)
{
  long sums[8] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
  for (int t = 0; t < 8; t++) {
#pragma omp task shared(sums) firstprivate(t)
    {
      long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4) schedule(dynamic, 3)
      for (int i = 0; i < 100; i++) sum += i;
      sums[t] = sum;
    }
  }
  for (int t = 0; t < 8; t++) CHECK_EQ(sums[t], 4950);
}

int main(void)
{
  everywhere(regions_in_tasks, tasks_in_regions_in_tasks, loops_in_tasks);
  return check_result();
}
