// SPDX-License-Identifier: Apache-2.0
// POSIX synchronisation between members: mutexes (also recursive and error-checking ones) held across inner regions and
// barriers, condition variables, barriers, read-write locks, semaphores.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static void held_across_region(int threads)
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int inside = 0, total = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&mutex);
    CHECK_EQ(inside++, 0);
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
#pragma omp atomic
      total++;
    }
    inside--;
    pthread_mutex_unlock(&mutex);
  }
  CHECK_EQ(total, 9 * threads);
}

// The list of robust mutexes that a thread holds belongs to the member, too.
static void robust(int threads)
{
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  int total = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 5; i++) {
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    total++;
    if (i == 2) usleep(50);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
#pragma omp barrier
  }
  CHECK_EQ(total % 5, 0);
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attributes);
}

// Ownership goes by the member's identity.
static void recursive(int threads)
{
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  int inside = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&mutex);
    CHECK_EQ(inside++, 0);
#pragma omp parallel num_threads(2)
    {
      // The inner primary is the owner; the other is another thread.
      int got = pthread_mutex_trylock(&mutex);
      CHECK_EQ(got, omp_get_thread_num() == 0 ? 0 : EBUSY);
#pragma omp barrier
      if (got == 0) pthread_mutex_unlock(&mutex);
    }
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    inside--;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attributes);
}

static void error_checking(int threads)
{
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
#pragma omp parallel num_threads(threads)
  {
    int owner = omp_get_thread_num() == threads - 1;
    if (owner) CHECK_EQ(pthread_mutex_lock(&mutex), 0);
#pragma omp barrier
    if (owner)
      CHECK_EQ(pthread_mutex_lock(&mutex), EDEADLK);
    else
      CHECK_EQ(pthread_mutex_unlock(&mutex), EPERM);
#pragma omp barrier
    if (owner) CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  }
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attributes);
}

// Producers and consumers among the members of one team, far more than CPUs.
static void conditions(int threads)
{
  if (threads < 2) return;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int available = 0, produced = 0, consumed = 0, pairs = threads / 2, each = 10;
#pragma omp parallel num_threads(2 * pairs)
  for (int i = 0; i < each; i++) {
    pthread_mutex_lock(&mutex);
    if (omp_get_thread_num() % 2) {
      available++, produced++;
      pthread_cond_broadcast(&changed);
    } else {
      while (available == 0) pthread_cond_wait(&changed, &mutex);
      available--, consumed++;
    }
    pthread_mutex_unlock(&mutex);
  }
  CHECK_EQ(available, 0);
  CHECK_EQ(produced, pairs * each);
  CHECK_EQ(consumed, pairs * each);
}

static void barriers(int threads)
{
  pthread_barrier_t barrier;
  int arrived = 0, serial = 0;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
#pragma omp parallel num_threads(threads)
  for (int round = 1; round <= 5; round++) {
    __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
#pragma omp atomic
      serial++;
    }
    CHECK(__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) >= round * threads);
  }
  CHECK_EQ(serial, 5);
  pthread_barrier_destroy(&barrier);
}

static void readers_and_writers(int threads)
{
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  int a = 0, b = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 10; i++) {
    if ((i + omp_get_thread_num()) % 3 == 0) {
      pthread_rwlock_wrlock(&lock);
      a++;
      sched_yield();
      b++;
    } else {
      pthread_rwlock_rdlock(&lock);
      CHECK_EQ(a, b);
    }
    pthread_rwlock_unlock(&lock);
  }
  CHECK_EQ(a, b);
}

// Each member waits for its right neighbour, which comes later.
static void semaphores(int threads)
{
  sem_t passed[most_members];
  for (int i = 0; i < threads; i++) sem_init(&passed[i], 0, 0);
  int order = 0;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    if (me + 1 < threads) sem_wait(&passed[me + 1]);
    CHECK_EQ(order++, threads - 1 - me);
    sem_post(&passed[me]);
  }
  for (int i = 0; i < threads; i++) sem_destroy(&passed[i]);
}

int main(void)
{
  everywhere(held_across_region, recursive, robust, error_checking, conditions, barriers,
             readers_and_writers, semaphores);
  return check_result();
}
