// SPDX-License-Identifier: Apache-2.0
// Members that spin on each other with sched_yield, usleep, nanosleep, poll or pause in the loop, more than there are CPUs.
#include "../support/check.h"

#include <omp.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

static void relax(int how)
{
  switch (how) {
  case 0: sched_yield(); break;
  case 1: usleep(50); break;
  case 2: poll(NULL, 0, 1); break;
  case 3: {
    struct timespec time = {0, 20000};
    nanosleep(&time, NULL);
    break;
  }
  case 4: omp_get_num_threads(); break;
  default: {
#pragma omp flush
  }
  }
}

static void ring(int threads, int rounds, int how)
{
  int turn = 0;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    for (int round = 0; round < rounds; round++) {
      while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != round * threads + me) relax(how);
      __atomic_store_n(&turn, round * threads + me + 1, __ATOMIC_RELEASE);
    }
  }
  CHECK_EQ(turn, threads * rounds);
}

static void rendezvous(int threads, int rounds, int how)
{
  int arrived = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 1; round <= rounds; round++) {
    __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < round * threads) relax(how);
  }
  CHECK_EQ(arrived, threads * rounds);
}

int main(void)
{
  omp_set_max_active_levels(3);
  omp_set_dynamic(0);
  for (int how = 0; how < 6; how++) {
    ring(2, 20, how);
    ring(6, how < 4 ? 10 : 3, how);
    rendezvous(8, how < 4 ? 10 : 3, how);
#pragma omp parallel num_threads(3)
    {
      ring(3, how < 4 ? 5 : 2, how);
      rendezvous(4, how < 4 ? 5 : 2, how);
    }
  }
  return check_result();
}
