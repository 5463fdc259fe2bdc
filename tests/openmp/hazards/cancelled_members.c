// SPDX-License-Identifier: Apache-2.0
// pthread_cancel of a member is undefined in OpenMP. Here a member does not hear of it, wherever it is; and where it has
// asked to, the thread whose identity it has goes on being parked.
#define _GNU_SOURCE
#include "../support/modes.h"

#include <omp.h>
#include <pthread.h>

enum { most_here = 16 };

static pthread_t ids[most_here];

static void cancel_others(int self)
{
  for (int other = 0; other < omp_get_num_threads(); other++) {
    if (other != self) CHECK_EQ(pthread_cancel(ids[other]), 0);
  }
}

static int left;

static void region(int threads, int asks)
{
  __atomic_store_n(&left, 0, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(threads)
  {
    int self = omp_get_thread_num(), before;
    ids[self] = pthread_self();
    if (self != 0 && asks) {
      CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before), 0);
      CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
      CHECK_EQ(before, PTHREAD_CANCEL_DISABLE);
    }
#pragma omp barrier
    if (self == 0) {
      cancel_others(self);
      __atomic_store_n(&left, 1, __ATOMIC_RELEASE);
    } else if (!asks) {
      // A call in which a thread would be cancelled.
      while (!__atomic_load_n(&left, __ATOMIC_ACQUIRE)) usleep(100);
    }
#pragma omp barrier
    if (self != 0 && asks) {
      CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before), 0);
      CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before), 0);
    }
    __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
  }
  CHECK_EQ(left, threads + 1);
}

int main(int count, char **arguments)
{
  (void)arguments;
  omp_set_dynamic(0);
  // Alone: libc has a member that was cancelled so wait in its next cancellation point.
  if (count > 1) {
    region(9, 1);
    return check_result();
  }
  const int sizes[] = {2, 4, 9};
  for (int i = 0; i < 3; i++) region(sizes[i], 0);
  // On one CPU all members but the first have identities of parked threads.
  const char *cpus = getenv("WEFT_NUM_CPUS");
  if (cpus != NULL && strcmp(cpus, "1") == 0) EXPECT_EXIT("asks", 0);
  return check_result();
}
