// SPDX-License-Identifier: Apache-2.0
// Task dependences: a chain, readers between writers, a wavefront.
#include "../support/check.h"
#include "../support/everywhere.h"

static void chain(int threads)
{
  int value = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 50; i++) {
#pragma omp task depend(inout : value) shared(value, wrong) firstprivate(i)
    {
      if (value != i) wrong++;
      value = i + 1;
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, 50);
}

static void readers(int threads)
{
  int value = 0, wrong = 0, reads = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 1; i <= 20; i++) {
#pragma omp task depend(out : value) shared(value, reads, wrong) firstprivate(i)
    {
      if (reads != 3 * (i - 1)) wrong++;
      value = i;
    }
    for (int reader = 0; reader < 3; reader++) {
#pragma omp task depend(in : value) shared(value, reads, wrong) firstprivate(i)
      {
        if (value != i) {
#pragma omp atomic
          wrong++;
        }
#pragma omp atomic
        reads++;
      }
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(reads, 60);
}

static void wavefront(int threads)
{
  enum { n = 12 };
  long grid[n][n];
  memset(grid, 0, sizeof grid);
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
#pragma omp task depend(in : grid[i ? i - 1 : 0][j], grid[i][j ? j - 1 : 0]) depend(inout : grid[i][j])                \
    firstprivate(i, j) shared(grid)
      grid[i][j] = i && j ? grid[i - 1][j] + grid[i][j - 1] : 1;
    }
  CHECK_EQ(grid[n - 1][n - 1], 705432);  // binomial(22, 11)
}

int main(void)
{
  everywhere(chain, readers, wavefront);
  return check_result();
}
