// SPDX-License-Identifier: Apache-2.0
// Who has opened regions and ends takes its members along: what these have left in thread-local objects ends soon, although
// nobody opens a region any more. So programs end that wait at their end for every thread that has called into them.
// Signals reach a member that is about to end so, and what other threads keep in members of theirs stays.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { patience_ms = 40000, most_here = 64, stop_signal = SIGUSR1 };

static pthread_key_t key;
static int begun, ended;

// One that is about to end.
static pthread_t ending[most_here];
static int places, ending_count, answers, answered_wrong, may_go;
static _Thread_local volatile int is_member;
static _Thread_local int is_root;

static void answer(int signal)
{
  (void)signal;
  if (is_member != 1) __atomic_fetch_add(&answered_wrong, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&answers, 1, __ATOMIC_RELEASE);
}

// As a collector's, which waits while the world is stopped.
static void at_end(void *unused)
{
  (void)unused;
  int place = __atomic_fetch_add(&places, 1, __ATOMIC_RELAXED);
  if (place < most_here) ending[place] = pthread_self();
  __atomic_fetch_add(&ending_count, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < patience_ms && !__atomic_load_n(&may_go, __ATOMIC_ACQUIRE); i++) usleep(1000);
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
}

// Members but for the root.
static void enroll(void)
{
  if (is_root || pthread_getspecific(key) != NULL) return;
  pthread_setspecific(key, &begun);
  is_member = 1;
  __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
}

static int comes(const int *count, int expected)
{
  for (int i = 0; i < patience_ms && __atomic_load_n(count, __ATOMIC_ACQUIRE) < expected; i++) usleep(1000);
  return __atomic_load_n(count, __ATOMIC_ACQUIRE) == expected;
}

static void regions(int threads)
{
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(threads)
    {
      enroll();
#pragma omp barrier
#pragma omp parallel num_threads(2)
      enroll();
    }
  }
}

static void *root(void *threads)
{
  is_root = 1;
  regions(*(int *)threads);
  return NULL;
}

static void roots_end(int roots, int threads)
{
  begun = ended = 0;
  may_go = 1;
  pthread_t ids[8];
  for (int i = 0; i < roots; i++) CHECK_EQ(pthread_create(&ids[i], NULL, root, &threads), 0);
  for (int i = 0; i < roots; i++) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  CHECK(comes(&ended, __atomic_load_n(&begun, __ATOMIC_RELAXED)));
}

// Those that are about to end answer signals.
static void answer_at_their_end(int threads)
{
  begun = ended = places = ending_count = answers = answered_wrong = may_go = 0;
  memset(ending, 0, sizeof ending);
  pthread_t id;
  CHECK_EQ(pthread_create(&id, NULL, root, &threads), 0);
  CHECK_EQ(pthread_join(id, NULL), 0);
  int expected = __atomic_load_n(&begun, __ATOMIC_RELAXED);
  CHECK(expected >= threads - 1 && expected <= most_here);
  CHECK(comes(&ending_count, expected));
  for (int i = 0; i < expected; i++) {
    CHECK_EQ(pthread_kill(ending[i], stop_signal), 0);
    CHECK(comes(&answers, i + 1));
  }
  CHECK_EQ(answered_wrong, 0);
  __atomic_store_n(&may_go, 1, __ATOMIC_RELEASE);
  CHECK(comes(&ended, expected));
}

static _Thread_local int kept;

static void keep(int threads, int value)
{
#pragma omp parallel num_threads(threads)
  kept = value + omp_get_thread_num();
}

static void expect_kept(int threads, int value)
{
#pragma omp parallel num_threads(threads)
  {
    CHECK_EQ(kept, value + omp_get_thread_num());
#pragma omp barrier
  }
}

int main(void)
{
  struct sigaction action = {.sa_handler = answer, .sa_flags = SA_RESTART};
  CHECK_EQ(sigaction(stop_signal, &action, NULL), 0);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  CHECK_EQ(pthread_key_create(&key, at_end), 0);
  const int sizes[] = {2, 4, 9};
  for (int i = 0; i < 3; i++) {
    roots_end(1, sizes[i]);
    roots_end(4, sizes[i]);
    answer_at_their_end(sizes[i]);
  }
  // A thread that lives keeps its members, and what these keep.
  keep(4, 100);
  roots_end(2, 4);
  expect_kept(4, 100);
  return check_result();
}
