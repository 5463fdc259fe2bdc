// SPDX-License-Identifier: Apache-2.0
// A member that creates tasks when all others have reached the end of the region, and spins until one of them has run each:
// who waits at the end must help, the primary as well as the others. (OpenMP promises no more than that they run at last.)
#include "../support/check.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

static void create(int tasks)
{
  for (int i = 0; i < tasks; i++) {
    int done = 0;
    usleep(5000);
#pragma omp task shared(done)
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) sched_yield();
  }
}

static void by_member(int number, int threads)
{
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == number && omp_get_num_threads() > 1) create(3);
}

// Of an inner team's members only the primary is still there.
static void inside(int threads)
{
#pragma omp parallel num_threads(2)
  by_member(threads - 1, threads);
}

// What is created before the end is left to those that wait there, in a team with more members than CPUs.
static void after_others(int threads)
{
  int sum = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp task shared(sum)
#pragma omp atomic
    sum++;
    if (omp_get_thread_num() == threads - 1 && omp_get_num_threads() > 1) create(2);
  }
  CHECK_IN(sum, 1, threads + 1);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  by_member(1, 2);
  by_member(0, 2);
  by_member(3, 4);
  by_member(0, 4);
  inside(2);
  inside(3);
  after_others(2);
  after_others(9);
#pragma omp parallel num_threads(2)
  after_others(3);
  return check_result();
}
