// SPDX-License-Identifier: Apache-2.0
// Reductions that tasks take part in: of a taskgroup, of a region, of a worksharing loop, of a taskloop.
#include "../support/check.h"
#include "../support/everywhere.h"

static void of_a_taskgroup(int threads)
{
  int sum = 1000, max = 0;
  long product = 1;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(max : max) task_reduction(* : product)
    {
      for (int i = 1; i <= 40; i++) {
#pragma omp task in_reduction(+ : sum) in_reduction(max : max) firstprivate(i)
        {
          sum += i;
          if (max < i * 3) max = i * 3;
        }
        if (i <= 10) {
#pragma omp task in_reduction(* : product) firstprivate(i)
          product *= i;
        }
      }
    }
    CHECK_EQ(sum, 1000 + 40 * 41 / 2);
    CHECK_EQ(max, 120);
    CHECK_EQ(product, 3628800);
  }
}

// Groups inside groups, and tasks of tasks.
static void nested(int threads)
{
  int outer = 0, inner_total = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : outer)
    {
      for (int i = 0; i < 6; i++) {
#pragma omp task in_reduction(+ : outer) shared(inner_total)
        {
          int inner = 0;
#pragma omp taskgroup task_reduction(+ : inner)
          for (int k = 0; k < 5; k++) {
#pragma omp task in_reduction(+ : inner) in_reduction(+ : outer)
            {
              inner++;
              outer += 2;
            }
          }
#pragma omp atomic
          inner_total += inner;
          outer++;
        }
      }
    }
    CHECK_EQ(outer, 6 * (5 * 2 + 1));
    CHECK_EQ(inner_total, 30);
  }
}

static void of_a_region(int threads)
{
  int sum = 5, members = 0;
#pragma omp parallel num_threads(threads) reduction(task, + : sum) shared(members)
  {
#pragma omp atomic
    members++;
    sum++;
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
      sum += 10;
    }
  }
  CHECK_EQ(sum, 5 + members * 101);
}

static void of_a_loop(int threads)
{
  int sum = 0;
  double real = 0.5;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 3; round++) {
#pragma omp for reduction(task, + : sum, real)
    for (int i = 0; i < 20; i++) {
      sum++;
#pragma omp task in_reduction(+ : sum, real) firstprivate(i)
      {
        sum += i;
        real += 0.25;
      }
    }
#pragma omp for schedule(dynamic) reduction(task, + : sum)
    for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum)
      sum++;
    }
  }
  CHECK_EQ(sum, 3 * (20 + 190 + 20));
  CHECK_EQ((int)(real * 4), 2 + 3 * 20);
}

static void of_sections(int threads)
{
  int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp sections reduction(task, + : sum)
  {
#pragma omp section
    {
#pragma omp task in_reduction(+ : sum)
      sum += 1;
    }
#pragma omp section
    {
#pragma omp task in_reduction(+ : sum)
      sum += 10;
    }
#pragma omp section
    sum += 100;
  }
  CHECK_EQ(sum, 111);
}

static void of_a_taskloop(int threads)
{
  long sum = 7;
  int array[4] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop reduction(+ : sum) grainsize(3)
    for (int i = 0; i < 100; i++) sum += i;
#pragma omp taskloop reduction(+ : array[ : 4])
    for (int i = 0; i < 100; i++) array[i % 4]++;
#pragma omp taskgroup task_reduction(+ : sum)
    {
#pragma omp taskloop in_reduction(+ : sum) num_tasks(7)
      for (int i = 0; i < 50; i++) sum++;
    }
  }
  CHECK_EQ(sum, 7 + 4950 + 50);
  for (int i = 0; i < 4; i++) CHECK_EQ(array[i], 25);
}

// Sections whose length is known when the program runs.
static void of_array_sections(int threads)
{
#ifdef __clang__
  // clang 19 keeps the length of a section in a thread-local variable, which only members that run a task set; who
  // combines need not be one of them.
  enum { length = 5 };
#else
  const int length = 3 + threads % 3;
#endif
  int values[8] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : values[1 : length])
  for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : values[1 : length]) firstprivate(i)
    values[1 + i % 3] += i;
  }
  CHECK_EQ(values[0], 0);
  CHECK_EQ(values[1] + values[2] + values[3], 435);
  CHECK_EQ(values[length + 1], 0);
}

int main(void)
{
  everywhere(of_a_taskgroup, nested, of_a_region, of_a_loop, of_sections, of_a_taskloop,
             of_array_sections);
  return check_result();
}
