// SPDX-License-Identifier: Apache-2.0
// errno belongs to the member: kept over barriers, locks, tasks and inner regions, however often its address was taken.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <errno.h>
#include <fcntl.h>

static void kept(int threads)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num(), *where = &errno;
    errno = 1000 + me;
    for (int i = 0; i < 10; i++) {
#pragma omp barrier
      CHECK_EQ(errno, 1000 + me);
      CHECK_PTR(&errno, where);
      omp_set_lock(&lock);
      CHECK_EQ(errno, 1000 + me);
      omp_unset_lock(&lock);
    }
#pragma omp parallel num_threads(3)
    {
      int it = omp_get_thread_num();
      if (it) errno = 5000 + it;
#pragma omp barrier
      CHECK_EQ(errno, it ? 5000 + it : 1000 + me);
    }
    CHECK_EQ(errno, 1000 + me);
  }
  omp_destroy_lock(&lock);
}

// By the C library: different failures in different members.
static void by_calls(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num(), expected;
    if (me % 2) {
      expected = ENOENT;
      CHECK_EQ(open("/no/such/file", O_RDONLY), -1);
    } else {
      expected = EBADF;
      CHECK_EQ(close(-1), -1);
    }
#pragma omp barrier
    CHECK_EQ(errno, expected);
#pragma omp barrier
    CHECK_EQ(errno, expected);
  }
}

// No routine of OpenMP tells by errno that something is wrong.
static void questions(void)
{
#define ASK(routine)                                                                                                   \
  errno = 77;                                                                                                          \
  (void)routine();                                                                                                     \
  CHECK_EQ(errno, 77)
  ASK(omp_get_max_threads);
  ASK(omp_in_parallel);
  ASK(omp_get_num_procs);
  ASK(omp_get_thread_limit);
  ASK(omp_get_default_allocator);
  ASK(omp_get_num_places);
  ASK(omp_get_place_num);
  ASK(omp_get_partition_num_places);
  ASK(omp_get_proc_bind);
  ASK(omp_get_max_teams);
  ASK(omp_get_teams_thread_limit);
  ASK(omp_get_num_devices);
  ASK(omp_get_initial_device);
  ASK(omp_get_max_task_priority);
  ASK(omp_get_supported_active_levels);
  ASK(omp_get_wtime);
  ASK(omp_get_wtick);
#undef ASK
}

// Where members are the first to use something, at the same time; the C++ library's lock for that writes errno.
static void first_uses(void)
{
  questions();
#pragma omp parallel num_threads(4)
  {
    int tasks = 0;
    errno = 77;
#pragma omp barrier
#pragma omp task shared(tasks)
    tasks++;
    CHECK_EQ(errno, 77);
#pragma omp taskwait
    CHECK_EQ(tasks, 1);
    CHECK_EQ(errno, 77);
    questions();
  }
}

int main(void)
{
  first_uses();
  everywhere(kept, by_calls);
  return check_result();
}
