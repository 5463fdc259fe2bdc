// SPDX-License-Identifier: Apache-2.0
// Thousands of threads of the program use OpenMP at the same time. Weft has room for 4096: the regions of further ones run
// alone, as one line on stderr says, and all the rest holds for them too; when others have ended, there is room again.
#include "../support/check.h"
#include "../support/modes.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>

enum { room = 4096, threads = room + 60, later = 40, stack = 64 << 10 };

static int arrived, alone, wrong, locked;
static sem_t all_there, go_on;
static omp_lock_t lock;

// What a region may hold; its result does not depend on the number of members.
static int region(void)
{
  int members = 0, iterations = 0, tasks = 0, singles = 0;
#pragma omp parallel num_threads(2) reduction(+ : members, iterations, singles)
  {
    members++;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; i++) iterations++;
#pragma omp single
    {
      singles++;
      for (int i = 0; i < 4; i++) {
#pragma omp task shared(tasks)
#pragma omp atomic
        tasks++;
      }
    }
  }
  const int right = members >= 1 && members <= 2 && iterations == 10 && tasks == 4 && singles == 1;
  if (!right) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
  return members;
}

static void *stay(void *unused)
{
  if (region() == 1) __atomic_add_fetch(&alone, 1, __ATOMIC_RELAXED);
  omp_set_lock(&lock);
  locked++;
  omp_unset_lock(&lock);
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == threads) sem_post(&all_there);
  while (sem_wait(&go_on) != 0) continue;
  return unused;
}

static int run(void)
{
  static pthread_t ids[threads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  omp_init_lock(&lock);
  sem_init(&all_there, 0, 0);
  sem_init(&go_on, 0, 0);
  int made = 0;
  while (made < threads && pthread_create(&ids[made], &attributes, stay, NULL) == 0) made++;
  CHECK_EQ(made, threads);
  if (made < threads) return check_result();
  while (sem_wait(&all_there) != 0) continue;
  for (int i = 0; i < threads; i++) sem_post(&go_on);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  CHECK_EQ(wrong, 0);
  CHECK_EQ(locked, threads);
  CHECK_IN(alone, 0, threads);
  // There is room again.
  alone = 0;
  arrived = threads - later;
  for (int i = 0; i < later; i++) pthread_create(&ids[i], &attributes, stay, NULL), sem_post(&go_on);
  for (int i = 0; i < later; i++) pthread_join(ids[i], NULL);
  CHECK_EQ(alone, 0);
  CHECK_EQ(wrong, 0);
  return check_result();
}

int main(int count, char **arguments)
{
  if (count > 1 && strcmp(arguments[1], "run") == 0) return run();
  setenv("OMP_STACKSIZE", "64K", 1);
  const struct mode_end end = run_mode("run", 100);
  CHECK_EQ(end.status, 0);
  // Other runtimes have nothing to say.
  const char *line = strchr(end.output, '\n');
  if (end.output[0]) {
    CHECK(strstr(end.output, "4096") != NULL);
    CHECK(line != NULL && line[1] == 0);
  }
  if (check_failures) fputs(end.output, stderr);
  return check_result();
}
