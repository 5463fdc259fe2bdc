// SPDX-License-Identifier: Apache-2.0
// omp_pause_resource and omp_pause_resource_all: what is given back, and what stays.
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <omp.h>

#include "../support/check.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

static int mine = 7;
#pragma omp threadprivate(mine)

static pthread_key_t key;
static int ended;
static void note_end(void *value)
{
  (void)value;
  // A thread that ends may use OpenMP.
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  if (members > 0) __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

static void nap(void)
{
  struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}

// Members' copies of `mine`, and how many are not what `value` + number would be.
static int differing(int value)
{
  int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  wrong += mine != value + omp_get_thread_num();
  return wrong;
}

static void set_all(int value)
{
#pragma omp parallel num_threads(4)
  {
    mine = value + omp_get_thread_num();
    pthread_setspecific(key, &key);
  }
}

static long resident(void)
{
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) pages = 0;
  if (file != NULL) fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

enum { DEPTH = 128 << 10 };
__attribute__((noinline)) static int use_stack(int times)
{
  volatile char space[DEPTH];
  for (int i = 0; i < DEPTH; i++) space[i] = (char)times;
  return times > 0 ? use_stack(times - 1) + space[DEPTH / 2] : space[0];
}

// Members that have had deep stacks give the memory back, all of them. Those that still spin are skipped: so it is asked again.
static void memory(void)
{
  const long used_each = 6L * DEPTH;
  int sum = 0, members = 0;
  // The initial thread keeps what it has used.
  CHECK_EQ(use_stack(7), 28);
  const long before = resident();
#pragma omp parallel num_threads(4) reduction(+ : sum, members)
  {
    sum += use_stack(7);
    members++;
  }
  CHECK_EQ(sum, members * 28);
  long kept = used_each;
  for (int i = 0; i < 5000 && kept >= used_each; i++) {
    CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
    nap();
    kept = resident() - before;
  }
#ifndef SANITIZED  // their own memory grows meanwhile
  CHECK(kept < used_each);
#endif
}

int main(void)
{
  CHECK_EQ(pthread_key_create(&key, note_end), 0);
  CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
  CHECK_EQ(omp_pause_resource_all(omp_pause_soft), 0);
  omp_set_num_threads(3);
  const int members = 4;
  const int threads = omp_get_max_threads();

  set_all(100);
  CHECK_EQ(omp_pause_resource_all(omp_pause_soft), 0);
  CHECK_EQ(differing(100), 0);
  CHECK_EQ(omp_get_max_threads(), threads);
  memory();
  CHECK_EQ(differing(100), 0);

  // The team's threads end: their copies start anew, the initial thread's stays.
  int size = 1;
#pragma omp parallel num_threads(4)
#pragma omp master
  size = omp_get_num_threads();
  CHECK(size <= members);
  CHECK_EQ(omp_pause_resource(omp_pause_hard, omp_get_initial_device()), 0);
  CHECK_EQ(mine, 100);
  for (int i = 0; i < 10000 && __atomic_load_n(&ended, __ATOMIC_SEQ_CST) < size - 1; i++) nap();
  CHECK_EQ(__atomic_load_n(&ended, __ATOMIC_SEQ_CST), size - 1);
  CHECK_EQ(omp_get_max_threads(), threads);
  int fresh = 0;
#pragma omp parallel num_threads(4) reduction(+ : fresh)
  fresh += omp_get_thread_num() > 0 && mine == 7;
  CHECK_EQ(fresh, size - 1);

  // Not inside a region.
#pragma omp parallel num_threads(2)
#pragma omp single
  CHECK(omp_get_num_threads() == 1 || omp_pause_resource_all(omp_pause_hard) != 0);
  CHECK(omp_pause_resource_all((omp_pause_resource_t)17) != 0);

  // Again and again, with inner teams and tasks in between.
  for (int i = 0; i < 20; i++) {
    int leaves = 0;
#pragma omp parallel num_threads(3) reduction(+ : leaves)
    {
#pragma omp parallel num_threads(2) reduction(+ : leaves)
      leaves++;
#pragma omp task
      nap();
    }
    CHECK(leaves > 0);
    CHECK_EQ(omp_pause_resource_all(i % 2 ? omp_pause_soft : omp_pause_hard), 0);
  }
  return check_result();
}
