// SPDX-License-Identifier: Apache-2.0
// Application threads that come and go, each opening regions: thousands in total, 32 at once; each is a master of its own,
// with its own control variables and threadprivate data; what they leave behind is taken up again.
#include "../support/check.h"

#include <omp.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 2000
#endif

static int private_copy = 3;
#pragma omp threadprivate(private_copy)

static long regions_run;

static void *one(void *argument)
{
  int id = (int)(long)argument;
  CHECK_EQ(omp_get_level(), 0);
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_num_threads(), 1);
  CHECK_EQ(private_copy, 3);
  private_copy = id;
  omp_set_num_threads(1 + id % 4);
  long members = 0;
  for (int i = 0; i < 3; i++) {
#pragma omp parallel reduction(+ : members) copyin(private_copy)
    {
      members++;
      CHECK_EQ(private_copy, id);
#pragma omp barrier
      private_copy = id;
    }
  }
  CHECK_EQ(members, 3 * (1 + id % 4));
  CHECK_EQ(private_copy, id);
  __atomic_add_fetch(&regions_run, 3, __ATOMIC_RELAXED);
  return NULL;
}

static void wave(int at_once, int first)
{
  pthread_t threads[64];
  for (int i = 0; i < at_once; i++) CHECK_EQ(pthread_create(&threads[i], NULL, one, (void *)(long)(first + i)), 0);
  for (int i = 0; i < at_once; i++) pthread_join(threads[i], NULL);
}

// Real work shared among roots, with loops and tasks.
static void *worker(void *argument)
{
  long *result = (long *)argument, sum = 0;
  for (int round = 0; round < 20; round++) {
#pragma omp parallel for num_threads(3) reduction(+ : sum) schedule(dynamic, 5)
    for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(sum)
      {
#pragma omp atomic
        sum++;
      }
    }
  }
  *result = sum;
  return NULL;
}

int main(void)
{
  omp_set_dynamic(0);
  int started = 0, total = TIMES(THREADS);
  while (started < total) {
    int at_once = 1 + started % 32;
    wave(at_once, started);
    started += at_once;
  }
  CHECK_EQ(regions_run, 3L * started);

  pthread_t threads[32];
  long results[32];
  for (int i = 0; i < 32; i++) pthread_create(&threads[i], NULL, worker, &results[i]);
  long own = 0;
  worker(&own);  // the initial thread too
  for (int i = 0; i < 32; i++) pthread_join(threads[i], NULL);
  CHECK_EQ(own, 20 * (4950 + 10));
  for (int i = 0; i < 32; i++) CHECK_EQ(results[i], 20 * (4950 + 10));
  return check_result();
}
