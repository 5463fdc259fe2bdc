// SPDX-License-Identifier: Apache-2.0
// Trees of tasks: fib and nqueens to the leaves, and a chain of tasks each inside the other.
#include "../support/check.h"
#include "../support/everywhere.h"

static long fib(int n)
{
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static int queens(int n, int row, const char *placed)
{
  if (row == n) return 1;
  int solutions = 0;
  for (int column = 0; column < n; column++) {
    int free_place = 1;
    for (int i = 0; i < row; i++)
      if (placed[i] == column || placed[i] - column == row - i || column - placed[i] == row - i) free_place = 0;
    if (!free_place) continue;
#pragma omp task shared(solutions) firstprivate(column)
    {
      char next[16];
      memcpy(next, placed, (size_t)row);
      next[row] = (char)column;
      int found = queens(n, row + 1, next);
#pragma omp atomic
      solutions += found;
    }
  }
#pragma omp taskwait
  return solutions;
}

static int chain(int depth)
{
  int below = 0;
  if (depth == 0) return 0;
#pragma omp task shared(below)
  below = chain(depth - 1);
#pragma omp taskwait
  return below + 1;
}

static void fib_tree(int threads)
{
  long result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = fib(14);
  CHECK_EQ(result, 377);
}

static void queen_tree(int threads)
{
  int result = 0;
  char none[16] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
  {
#pragma omp task shared(result)
    result = queens(6, 0, none);
  }
  CHECK_EQ(result, 4);
}

static void deep_chain(int threads)
{
  int result = 0;
#pragma omp parallel num_threads(threads) reduction(+ : result)
  result += chain(500);
  CHECK_EQ(result, 500 * threads);
}

int main(void)
{
  everywhere(fib_tree, queen_tree, deep_chain);
  return check_result();
}
