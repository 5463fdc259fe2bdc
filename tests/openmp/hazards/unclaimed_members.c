// SPDX-License-Identifier: Apache-2.0
// Members of an inner region that no carrier has claimed are run where their primary waits, one after the other. The
// first pushes a task, which calls the primary, and waits for a lock. The next pushes a task and spins until it has been
// run: by then the primary must have answered the call, since nobody is called before that.
#include "../support/check.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

static int held, over;

static int is_set(int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }

static void inner(int threads)
{
  int sum = 0, done = 0, members = 0;
#pragma omp parallel num_threads(threads)
  {
    const int number = omp_get_thread_num();
    if (number == 0) members = omp_get_num_threads();
#pragma omp task shared(sum)
#pragma omp atomic
    sum++;
    if (number == omp_get_num_threads() - 1) {
#pragma omp task shared(done)
      set(&done);
      while (omp_get_num_threads() > 1 && !is_set(&done)) sched_yield();
      set(&over);
    } else if (number > 0) {
#pragma omp critical
      (void)is_set(&over);
    }
  }
  CHECK_EQ(sum, members);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  for (int i = 0; i < 4; i++) {
    held = over = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_num_threads() == 1) {
      inner(3);
    } else if (omp_get_thread_num() == 1) {
#pragma omp critical
      {
        set(&held);
        while (!is_set(&over)) usleep(200);
      }
    } else {
      while (!is_set(&held)) usleep(200);
      inner(3 + i);
    }
  }
  return check_result();
}
