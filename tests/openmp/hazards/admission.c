// SPDX-License-Identifier: Apache-2.0
// WEFT_MODE: how many application threads may be inside parallel regions at the same time. Regions inside regions never wait;
// regions that can only end when others have begun are let in after all; the child of a fork starts with none inside.
#include "../support/check.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOTS 12

static int in_mode(const char *mode)
{
  const char *value = getenv("WEFT_MODE");
  return value != NULL && strcmp(value, mode) == 0;
}

static int inside, most_inside, threads_inside, most_threads;

static void raise_to(int *most, int value)
{
  int before = __atomic_load_n(most, __ATOMIC_RELAXED);
  while (before < value && !__atomic_compare_exchange_n(most, &before, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static void region(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    if (omp_get_thread_num() == 0) {
      raise_to(&most_inside, __atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED));
      raise_to(&most_threads, __atomic_add_fetch(&threads_inside, omp_get_num_threads(), __ATOMIC_RELAXED));
    }
#pragma omp barrier
    members++;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      __atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
      __atomic_sub_fetch(&threads_inside, omp_get_num_threads(), __ATOMIC_RELAXED);
    }
  }
  CHECK_EQ(members, threads);
}

static void *root(void *argument)
{
  for (int i = 0; i < TIMES(50); i++) region(2 + (int)((long)argument + i) % 3);
  return NULL;
}

static void many_roots(void)
{
  pthread_t threads[ROOTS];
  for (long i = 0; i < ROOTS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, root, (void *)i), 0);
  for (int i = 0; i < ROOTS; i++) pthread_join(threads[i], NULL);
  if (in_mode("exclusive")) CHECK_EQ(most_inside, 1);
  // One that is too large for the machine is let in when it is alone.
  if (in_mode("counting")) CHECK(most_inside == 1 || most_threads <= omp_get_num_procs());
  CHECK_EQ(inside, 0);
}

// The first root's region waits for the second's.
static int second_was_here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *second(void *unused)
{
  (void)unused;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    pthread_mutex_lock(&lock);
    second_was_here = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void region_that_waits_for_another(void)
{
  pthread_t other;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    CHECK_EQ(pthread_create(&other, NULL, second, NULL), 0);
    pthread_mutex_lock(&lock);
    while (!second_was_here) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
  }
  pthread_join(other, NULL);
  second_was_here = 0;
}

// Forked while another root is inside a region and more of them wait.
static int forked;

static void *until_forked(void *unused)
{
  (void)unused;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    __atomic_store_n(&second_was_here, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&forked, __ATOMIC_ACQUIRE)) usleep(100);
  }
  return NULL;
}

static void fork_beside_a_region(void)
{
  pthread_t inside_one, waits;
  CHECK_EQ(pthread_create(&inside_one, NULL, until_forked, NULL), 0);
  while (!__atomic_load_n(&second_was_here, __ATOMIC_ACQUIRE)) usleep(100);
  CHECK_EQ(pthread_create(&waits, NULL, root, NULL), 0);
  usleep(1000);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    region(3);
    region(2);
    _exit(0);
  }
  CHECK(child > 0);
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  __atomic_store_n(&forked, 1, __ATOMIC_RELEASE);
  pthread_join(inside_one, NULL);
  pthread_join(waits, NULL);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  many_roots();
  region_that_waits_for_another();
  fork_beside_a_region();
  return 0;
}
