// SPDX-License-Identifier: Apache-2.0
// Nestable locks: counts, exclusion, test, neighbours in memory (gcc's type has 16 bytes, clang's 8).
#include "../support/check.h"
#include "../support/everywhere.h"

static void recurse(omp_nest_lock_t *lock, int depth, long *count)
{
  omp_set_nest_lock(lock);
  ++*count;
  if (depth > 0) recurse(lock, depth - 1, count);
  omp_unset_nest_lock(lock);
}

static void exclusive(int threads)
{
  omp_nest_lock_t lock;
  long count = 0;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 20; i++) recurse(&lock, 9, &count);
  CHECK_EQ(count, 200L * threads);
  omp_destroy_nest_lock(&lock);
}

static void counted(int threads)
{
  omp_nest_lock_t lock;
  int failed = 0;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(threads) reduction(+ : failed)
  {
#pragma omp master
    {
      for (int i = 1; i <= 5; i++) CHECK_EQ(omp_test_nest_lock(&lock), i);
      omp_set_nest_lock(&lock);
      CHECK_EQ(omp_test_nest_lock(&lock), 7);
      for (int i = 0; i < 6; i++) omp_unset_nest_lock(&lock);
    }
#pragma omp barrier
    if (omp_get_thread_num() != 0) {
      CHECK_EQ(omp_test_nest_lock(&lock), 0);  // still held once
      failed++;
    }
#pragma omp barrier
#pragma omp master
    omp_unset_nest_lock(&lock);
#pragma omp barrier
#pragma omp critical(weft_test_nest_lock)
    {
      CHECK_EQ(omp_test_nest_lock(&lock), 1);
      omp_unset_nest_lock(&lock);
    }
  }
  CHECK_EQ(failed, threads - 1);
  omp_destroy_nest_lock(&lock);
}

static void spun_for(int threads)
{
  omp_nest_lock_t lock;
  int inside = 0;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 10; i++) {
    while (!omp_test_nest_lock(&lock)) continue;
    omp_set_nest_lock(&lock);
    CHECK_EQ(inside++, 0);
    inside--;
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
}

static void neighbours(int threads)
{
  struct {
    unsigned before[2];
    omp_nest_lock_t lock;
    unsigned after[4];
  } in;
  for (int fill = 0; fill < 256; fill += 85) {
    memset(&in, fill, sizeof in);
    unsigned expected;
    memset(&expected, fill, sizeof expected);
    long count = 0;
    omp_init_nest_lock(&in.lock);
#pragma omp parallel num_threads(threads)
    recurse(&in.lock, 3, &count);
    omp_destroy_nest_lock(&in.lock);
    CHECK_EQ(count, 4L * threads);
    for (int i = 0; i < 2; i++) CHECK_EQ(in.before[i], expected);
    for (int i = 0; i < 4; i++) CHECK_EQ(in.after[i], expected);
  }
}

// Held while the holder waits at a barrier with the others.
static void held_over_barriers(int threads)
{
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(threads)
  {
    int last = omp_get_thread_num() == threads - 1;
    if (last) omp_set_nest_lock(&lock);
    for (int i = 0; i < 5; i++) {
#pragma omp barrier
    }
    if (last) {
      CHECK_EQ(omp_test_nest_lock(&lock), 2);
      omp_unset_nest_lock(&lock);
    } else {
      CHECK_EQ(omp_test_nest_lock(&lock), 0);
    }
#pragma omp barrier
    if (last) omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
}

int main(void)
{
  everywhere(exclusive, counted, spun_for, neighbours, held_over_barriers);
  return check_result();
}
