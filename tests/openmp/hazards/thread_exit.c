// SPDX-License-Identifier: Apache-2.0
// Application threads that end in unusual ways: by pthread_exit, detached, with key destructors that open regions
// again; and threads created by members, which open regions too. libomp crashes on a region in a key destructor that runs after its own.
#include "../support/check.h"

#include <omp.h>
#include <pthread.h>

static pthread_key_t key;
static int destructor_members, destructors, detached_done;

static void region(int threads, int *members)
{
#pragma omp parallel num_threads(threads)
  {
    __atomic_add_fetch(members, 1, __ATOMIC_RELAXED);
#pragma omp barrier
  }
}

// Called while the thread ends: before or after the runtime's own clean-up, in either order.
static void at_thread_end(void *value)
{
  region(3, &destructor_members);
  __atomic_add_fetch(&destructors, 1, __ATOMIC_RELAXED);
  if ((long)value > 1) pthread_setspecific(key, (void *)((long)value - 1));  // another round of destructors
}

static void *with_key_first(void *unused)
{
  pthread_setspecific(key, (void *)2);
  int members = 0;
  region(3, &members);
  CHECK_EQ(members, 3);
  return unused;
}

static void *with_key_last(void *unused)
{
  int members = 0;
  region(3, &members);
  pthread_setspecific(key, (void *)2);
  pthread_exit(unused);
}

static void *without_regions(void *unused)
{
  pthread_setspecific(key, (void *)1);
  return unused;
}

static void *detached(void *unused)
{
  int members = 0;
  region(2, &members);
  __atomic_add_fetch(&detached_done, 1, __ATOMIC_RELEASE);
  return unused;
}

static void *of_member(void *argument)
{
  int members = 0;
  region(3, &members);
  *(int *)argument = members;
  return NULL;
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  pthread_key_create(&key, at_thread_end);
  int rounds = TIMES(40);
  for (int i = 0; i < rounds; i++) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, with_key_first, NULL);
    pthread_create(&b, NULL, with_key_last, NULL);
    pthread_create(&c, NULL, without_regions, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
  }
  CHECK_EQ(destructors, 5 * rounds);
  CHECK_EQ(destructor_members, 15 * rounds);

  for (int i = 0; i < rounds; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, detached, NULL);
    pthread_detach(thread);
  }
  for (int i = 0; i < 10000 && __atomic_load_n(&detached_done, __ATOMIC_ACQUIRE) < rounds; i++) usleep(1000);
  CHECK_EQ(detached_done, rounds);

  for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(4)
    {
      pthread_t thread;
      int members = 0;
      CHECK_EQ(pthread_create(&thread, NULL, of_member, &members), 0);
#pragma omp barrier
      pthread_join(thread, NULL);
      CHECK_EQ(members, 3);
    }
  }
  pthread_key_delete(key);
  return check_result();
}
