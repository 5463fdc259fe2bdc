// SPDX-License-Identifier: Apache-2.0
// omp_get_thread_num and its like may be called in a signal handler of any thread, those that have never used OpenMP included: no
// memory is allocated, since the handler may have interrupted the allocator.
#include "../support/check.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static _Thread_local volatile int in_handler, asked;
static int allocations_in_handler;

extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void count(void)
{
  if (in_handler) __atomic_add_fetch(&allocations_in_handler, 1, __ATOMIC_RELAXED);
}

// In front of libc's, for the runtime as well.
void *malloc(size_t size)
{
  count();
  return __libc_malloc(size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  count();
  return __libc_memalign(alignment, size);
}

static void ask(int signal)
{
  in_handler = 1;
  int inside = omp_in_parallel(), level = omp_get_level(), number = omp_get_thread_num();
  CHECK_EQ(omp_get_num_threads() > 1, inside);
  CHECK_EQ(omp_get_active_level() > 0, inside);
  CHECK(level > 0 || number == 0);
  asked = signal;
  in_handler = 0;
}

static void *new_thread(void *unused)
{
  raise(SIGUSR1);
  CHECK_EQ(asked, SIGUSR1);
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_num_threads(), 1);
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  {
    raise(SIGUSR1);
    CHECK_EQ(asked, SIGUSR1);
    members++;
  }
  CHECK_EQ(members, 3);
  raise(SIGUSR1);
  return unused;
}

int main(void)
{
  omp_set_dynamic(0);
  struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  free(malloc(1));
  free(aligned_alloc(64, 64));
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, new_thread, NULL);
    pthread_join(thread, NULL);
  }
  CHECK_EQ(allocations_in_handler, 0);
  return check_result();
}
