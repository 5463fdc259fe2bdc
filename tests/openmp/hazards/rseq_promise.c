// SPDX-License-Identifier: Apache-2.0
// A program's own restartable sequences in the C library's area: they begin with the number that the area has, and are tried
// again until that is the CPU they run on. Where the C library says that there is no area, such programs do without. So what
// it says must hold for every thread.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <pthread.h>
#include <stddef.h>

#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>

static int tries_in_vain;

// As librseq's loops do, which never end where nothing keeps the area up to date.
static void look(void)
{
  enum { most = 1000 };
  if (__rseq_size == 0) return;
  volatile struct rseq *area = (volatile struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
  for (int i = 0; i < most; i++)
    if (area->cpu_id == area->cpu_id_start) return;
  __atomic_add_fetch(&tries_in_vain, 1, __ATOMIC_RELAXED);
}

static void members(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 3; i++) {
    look();
#pragma omp barrier
  }
}

static void *thread(void *unused)
{
  (void)unused;
  look();
  members(3);
  look();
  return NULL;
}

int main(void)
{
  look();
  everywhere(members);
  look();
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, thread, NULL), 0);
  CHECK_EQ(pthread_join(other, NULL), 0);
  CHECK_EQ(tries_in_vain, 0);
  return check_result();
}
#else
int main(void) { return 0; }
#endif
