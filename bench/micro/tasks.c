// SPDX-License-Identifier: Apache-2.0
// What explicit tasks cost: nanoseconds of one task, with one producer, many, and in trees.
#include <omp.h>
#include <stdlib.h>

#include "common/measure.h"

static volatile long sink;

static double one_producer(const measurement* self, long count) {
  (void)self;
  const double start = now();
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < count; i++) {
#pragma omp task
    __asm__ volatile("");
  }
  return now() - start;
}

static double many_producers(const measurement* self, long count) {
  (void)self;
  const double start = now();
#pragma omp parallel
  {
    const int members = omp_get_num_threads();
    const long mine = count / members + (omp_get_thread_num() < count % members);
    for (long i = 0; i < mine; i++) {
#pragma omp task
      __asm__ volatile("");
    }
  }
  return now() - start;
}

static long fibonacci(int n) {
  if (n < 2) return n;
  long left, right;
#pragma omp task shared(left)
  left = fibonacci(n - 1);
  right = fibonacci(n - 2);
#pragma omp taskwait
  return left + right;
}

// Queens on a board of n lines; the columns and diagonals taken are bits. Every safe place is a task.
static long queens(int n, int line, unsigned columns, unsigned left, unsigned right) {
  if (line == n) return 1;
  long found[16] = {0}, sum = 0;
  for (int k = 0; k < n; k++) {
    const unsigned place = 1u << k;
    if ((columns | left | right) & place) continue;
#pragma omp task shared(found)
    found[k] = queens(n, line + 1, columns | place, (left | place) << 1, (right | place) >> 1);
  }
#pragma omp taskwait
  for (int k = 0; k < n; k++) sum += found[k];
  return sum;
}

static void check(long value, long expected) {
  sink = value;
  if (value == expected) return;
  fprintf(stderr, "tasks: the tree gave %ld, %ld is right\n", value, expected);
  exit(1);
}

// Whole trees, at least as many tasks as asked for; the time of `count` tasks.
static double tree(const measurement* self, long count) {
  enum { fibonacci_tasks = 2583, queens_tasks = 2056 };
  const long tasks = self->a ? queens_tasks : fibonacci_tasks;
  const long trees = (count + tasks - 1) / tasks;
  const double start = now();
  for (long i = 0; i < trees; i++) {
#pragma omp parallel
#pragma omp single
    self->a ? check(queens(8, 0, 0, 0, 0), 92) : check(fibonacci(17), 1597);
  }
  return (now() - start) * (double)count / ((double)trees * (double)tasks);
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "one_producer", .run = one_producer},
                                             {.name = "many_producers", .run = many_producers},
                                             {.name = "fib", .run = tree},
                                             {.name = "nqueens", .run = tree, .a = 1},
                                             {0}};
  return measure_family(argument_count, arguments, "tasks", measurements);
}
