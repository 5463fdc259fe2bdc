// SPDX-License-Identifier: Apache-2.0
// The owner of a nestable lock is the task that set it (OpenMP 3.0 and later), not the thread: a task that the same member
// runs in between does not get it. libomp keeps the thread as the owner and fails here.
#include "../support/check.h"
#include "../support/everywhere.h"

static void by_task(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    omp_nest_lock_t lock;
    int got = -1;
    omp_init_nest_lock(&lock);
    omp_set_nest_lock(&lock);
#pragma omp task shared(lock, got) if (0)
    got = omp_test_nest_lock(&lock);
    CHECK_EQ(got, 0);
    CHECK_EQ(omp_test_nest_lock(&lock), 2);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    omp_destroy_nest_lock(&lock);
  }
}

// An inner primary is the same thread, yet another implicit task.
static void by_inner_primary(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
    omp_set_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    CHECK_EQ(omp_test_nest_lock(&lock), 0);
    omp_unset_nest_lock(&lock);
    omp_destroy_nest_lock(&lock);
  }
}

int main(void)
{
  everywhere(by_task, by_inner_primary);
  return check_result();
}
