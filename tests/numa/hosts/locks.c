// SPDX-License-Identifier: Apache-2.0
// Threads contend for locks that lie in the array, and wait for conditions there.
#include "busy.h"

enum { LOCKS = 64, THREADS = 6 };

static char *array = NULL;
static long counts[LOCKS];

static pthread_mutex_t *lock_of(int number) { return (pthread_mutex_t *)(array + (size_t)number * (SIZE / LOCKS) + 2 * PAGE); }

static void *work(void *argument) {
  unsigned state = (unsigned)(size_t)argument;
  long done = 0;
  while (goes_on()) {
    for (int i = 0; i < 100; ++i, ++done) {
      state = state * 1103515245U + 12345;
      const int number = (int)(state >> 16) % 4;  // few, so that threads wait
      CHECK(pthread_mutex_lock(lock_of(number)) == 0);
      ++counts[number];
      CHECK(pthread_mutex_unlock(lock_of(number)) == 0);
    }
  }
  return (void *)done;
}

// Two threads that take turns.
static pthread_mutex_t *turn_lock;
static pthread_cond_t *turn_changed;
static volatile int turn = 0;
static volatile int over = 0;

static void *take_turns(void *argument) {
  const int mine = (int)(size_t)argument;
  CHECK(pthread_mutex_lock(turn_lock) == 0);
  while (!over) {
    while (turn != mine && !over) CHECK(pthread_cond_wait(turn_changed, turn_lock) == 0);
    turn = 1 - mine;
    if (!goes_on()) over = 1;
    CHECK(pthread_cond_signal(turn_changed) == 0);
  }
  CHECK(pthread_mutex_unlock(turn_lock) == 0);
  return NULL;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  array = make_array();
  for (int i = 0; i < LOCKS; ++i) CHECK(pthread_mutex_init(lock_of(i), NULL) == 0);
  turn_lock = lock_of(LOCKS - 1);
  turn_changed = (pthread_cond_t *)(array + SIZE - 8 * PAGE);
  CHECK(pthread_cond_init(turn_changed, NULL) == 0);
  pthread_t turners[2];
  for (size_t i = 0; i < 2; ++i) CHECK(pthread_create(&turners[i], NULL, take_turns, (void *)i) == 0);
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
  long done = 0;
  for (int i = 0; i < THREADS; ++i) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    done += (long)result;
  }
  for (int i = 0; i < 2; ++i) pthread_join(turners[i], NULL);
  long sum = 0;
  for (int i = 0; i < LOCKS; ++i) sum += counts[i];
  CHECK(sum == done);
  return 0;
}
