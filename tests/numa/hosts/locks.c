// SPDX-License-Identifier: Apache-2.0
// Threads contend for locks that lie in the array.
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

int main(int count, char **arguments) {
  begin(count, arguments);
  array = make_array();
  for (int i = 0; i < LOCKS; ++i) CHECK(pthread_mutex_init(lock_of(i), NULL) == 0);
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
  long done = 0;
  for (int i = 0; i < THREADS; ++i) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    done += (long)result;
  }
  long sum = 0;
  for (int i = 0; i < LOCKS; ++i) sum += counts[i];
  CHECK(sum == done);
  return 0;
}
