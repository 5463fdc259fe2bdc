// SPDX-License-Identifier: Apache-2.0
// Threads of the program that use regions and then end by pthread_exit or pthread_cancel between two of them, main among them: the
// others go on, and what they held is taken up again.
#include "../support/modes.h"

#include <omp.h>
#include <pthread.h>

static int region(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    members++;
#pragma omp barrier
  }
  return members;
}

static void *regions_for_ever(void *count)
{
  for (;;) {
    CHECK_EQ(region(3), 3);
    __atomic_add_fetch((int *)count, 1, __ATOMIC_RELEASE);
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    pthread_testcancel();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  }
  return NULL;
}

// Cancelled where no region is open: as OpenMP wants it.
static void cancelled(int rounds)
{
  for (int i = 0; i < rounds; i++) {
    pthread_t threads[3];
    int counts[3] = {0};
    for (int k = 0; k < 3; k++) pthread_create(&threads[k], NULL, regions_for_ever, &counts[k]);
    for (int k = 0; k < 3; k++) {
      while (__atomic_load_n(&counts[k], __ATOMIC_ACQUIRE) < 3) usleep(200);
      pthread_cancel(threads[k]);
    }
    for (int k = 0; k < 3; k++) {
      void *result;
      CHECK_EQ(pthread_join(threads[k], &result), 0);
      CHECK_PTR(result, PTHREAD_CANCELED);
    }
    CHECK_EQ(region(5), 5);
  }
}

static void *outlives_main(void *unused)
{
  for (int i = 0; i < 20; i++) CHECK_EQ(region(4), 4);
  if (check_failures) _exit(1);
  return unused;
}

// Runs after the runtime's own clean-up for the thread, since its key is younger; so there is another one.
static void at_end_of_main(void *unused)
{
  CHECK(unused != NULL);
  CHECK_EQ(region(3), 3);
}

int main(int count, char **arguments)
{
  omp_set_dynamic(0);
  if (count > 1 && strcmp(arguments[1], "main-exits") == 0) {
    CHECK_EQ(region(3), 3);
    pthread_key_t key;
    pthread_key_create(&key, at_end_of_main);
    pthread_setspecific(key, &count);
    pthread_t thread;
    pthread_create(&thread, NULL, outlives_main, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
  }
  CHECK_EQ(region(4), 4);
  cancelled(TIMES(20));
  EXPECT_EXIT("main-exits", 0);
  return check_result();
}
