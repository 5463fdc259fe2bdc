// SPDX-License-Identifier: Apache-2.0
// master, and masked without a filter: by member 0 alone, and no barrier.
#include "../support/check.h"
#include "../support/everywhere.h"

static void member_zero(int threads)
{
  int masters = 0, masked = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 20; round++) {
#pragma omp master
    {
      masters++;
      CHECK_EQ(omp_get_thread_num(), 0);
    }
#pragma omp masked
    {
      masked++;
      CHECK_EQ(omp_get_thread_num(), 0);
    }
  }
  CHECK_EQ(masters, 20);
  CHECK_EQ(masked, 20);
}

// The others go on while member 0 is still inside.
static void no_barrier(int threads)
{
  if (threads < 2) return;
  int passed = 0, seen = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    for (int spin = 0; spin < 3000 && seen < threads - 1; spin++) {
      usleep(1000);
#pragma omp atomic read
      seen = passed;
    }
    if (omp_get_thread_num() != 0) {
#pragma omp atomic
      passed++;
    }
  }
  CHECK_EQ(seen, threads - 1);
}

int main(void)
{
  everywhere(member_zero);
  omp_set_max_active_levels(2);
  no_barrier(2);
  no_barrier(5);
#pragma omp parallel num_threads(2)
  no_barrier(3);
  return check_result();
}
