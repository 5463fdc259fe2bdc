// SPDX-License-Identifier: Apache-2.0
// A million tasks: from one producer, from all members, and in a tree, at level 1; fewer in inner regions.
#include "../support/check.h"

#include <omp.h>
#include <sys/resource.h>

static void one_producer(int threads, long count)
{
  long sum = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    for (long i = 0; i < count; i++) {
#pragma omp task firstprivate(i) shared(sum)
      {
#pragma omp atomic
        sum += i & 7;
      }
    }
  }
  long expected = 0;
  for (long i = 0; i < count; i++) expected += i & 7;
  CHECK_EQ(sum, expected);
}

static void many_producers(int threads, long count)
{
  long sum = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for
    for (long i = 0; i < count; i++) {
#pragma omp task shared(sum)
      {
#pragma omp atomic
        sum++;
      }
    }
  }
  CHECK_EQ(sum, count);
}

static void tree(int depth, long *leaves)
{
  if (depth == 0) {
#pragma omp atomic
    ++*leaves;
    return;
  }
#pragma omp task
  tree(depth - 1, leaves);
#pragma omp task
  tree(depth - 1, leaves);
}

static void detached_tree(int threads, int depth)
{
  long leaves = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  tree(depth, &leaves);  // nobody waits but the barrier
  CHECK_EQ(leaves, 1L << depth);
}

static long most_resident_kb(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Tasks that others have run are memory for the producer's next ones.
static void memory_is_used_again(int threads)
{
  const long count = TIMES(50000);
  for (int i = 0; i < 3; i++) one_producer(threads, count);
  const long before = most_resident_kb();
  for (int i = 0; i < 8; i++) one_producer(threads, count);
  // A task takes some 300 bytes: all of these would be 117 MB.
  CHECK_IN(most_resident_kb() - before, 0, 4 * 1024);
}

int main(void)
{
  omp_set_max_active_levels(3);
  memory_is_used_again(2);
  memory_is_used_again(4);
  one_producer(2, TIMES(400000));
  one_producer(1, TIMES(100000));
  one_producer(5, TIMES(50000));
  many_producers(2, TIMES(200000));
  many_producers(7, TIMES(100000));
  detached_tree(2, TIMES(20) == 20 ? 16 : 12);
  detached_tree(6, 12);
#pragma omp parallel num_threads(3)
  {
    one_producer(3, TIMES(10000));
    many_producers(4, TIMES(10000));
    detached_tree(3, 10);
  }
  return check_result();
}
