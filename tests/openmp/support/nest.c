// SPDX-License-Identifier: Apache-2.0
// A program for tools to look at: loops, an inner region, tasks, critical sections and barriers, `rounds` times. With a second
// argument one thing is wrong inside of an inner region: "race", or "overflow" of a block of memory.
#include <stdlib.h>
#include <string.h>

enum { length = 1000 };

static long leaves_of_tree(int depth)
{
  if (depth == 0) return 1;
  long left, right;
#pragma omp task shared(left)
  left = leaves_of_tree(depth - 1);
  right = leaves_of_tree(depth - 1);
#pragma omp taskwait
  return left + right;
}

__attribute__((noinline)) static void hot_function(double *values, int from)
{
  for (int k = 0; k < 20; k++) values[from] += 1.0 / (1.0 + values[from]);
}

static long unguarded;

static void wrong(const char *what, double *values)
{
  if (strcmp(what, "race") == 0) unguarded++;
  if (strcmp(what, "overflow") == 0) ((volatile double *)values)[length] = 1;
}

int main(int count, char **arguments)
{
  int rounds = count > 1 ? atoi(arguments[1]) : 3;
  const char *what = count > 2 ? arguments[2] : "";
  double *values = calloc(length, sizeof *values);
  long inner = 0, leaves = 0, entered = 0;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(4) reduction(+ : inner)
    {
#pragma omp for schedule(dynamic, 7)
      for (int i = 0; i < length; i++) hot_function(values, i);
#pragma omp for
      for (int i = 0; i < length; i++) values[i] += values[i] > 2;
#pragma omp parallel num_threads(3) reduction(+ : inner)
      {
#pragma omp for
        for (int i = 0; i < length; i++) inner += values[i] > 0;
#pragma omp critical
        entered++;
        wrong(what, values);
#pragma omp barrier
      }
#pragma omp single
      leaves += leaves_of_tree(6);
    }
  }
  free(values);
  return leaves != 64L * rounds || inner != 4L * length * rounds || entered != 12L * rounds;
}
