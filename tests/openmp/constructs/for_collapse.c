// SPDX-License-Identifier: Apache-2.0
// collapse over two, three and four loops, of equal and of mixed kinds, with empty dimensions, and triangular.
#include "../support/check.h"
#include "../support/everywhere.h"

static void two(int threads)
{
  int times[5][31][17];
  memset(times, 0, sizeof times);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for collapse(2)
    for (int i = 0; i < 31; i++)
      for (int j = 0; j < 17; j++) times[0][i][j]++;
#pragma omp for collapse(2) schedule(dynamic, 3)
    for (int i = 30; i >= 0; i--)
      for (int j = 0; j < 17; j++) times[1][i][j]++;
#pragma omp for collapse(2) schedule(guided) nowait
    for (int i = 0; i < 31; i++)
      for (int j = 16; j >= 0; j--) times[2][i][j]++;
#pragma omp for collapse(2) schedule(runtime)
    for (long i = 0; i < 31; i++)
      for (unsigned char j = 0; j < 17; j++) times[3][i][j]++;
#pragma omp for collapse(2) schedule(static, 5)
    for (unsigned long long i = 0; i < 31; i++)
      for (short j = 0; j < 17; j++) times[4][i][j]++;
  }
  for (int loop = 0; loop < 5; loop++)
    for (int i = 0; i < 31; i++)
      for (int j = 0; j < 17; j++) CHECK_EQ(times[loop][i][j], 1);
}

static void deep(int threads)
{
  long total = 0, sum = 0;
  int a = 3, b = 5, c = 7, d = 2;
#pragma omp parallel for collapse(4) num_threads(threads) reduction(+ : total, sum) schedule(dynamic, 2)
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = -c; k < 0; k++)
        for (int l = 0; l < d; l++) {
          total++;
          sum += i * 1000 + j * 100 + k * 10 + l;
        }
  long expected = 0;
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = -c; k < 0; k++)
        for (int l = 0; l < d; l++) expected += i * 1000 + j * 100 + k * 10 + l;
  CHECK_EQ(total, a * b * c * d);
  CHECK_EQ(sum, expected);
}

static void nothing(int threads)
{
  for (int which = 0; which < 3; which++) {
    int a = which == 0 ? 0 : 4, b = which == 1 ? 0 : 5, c = which == 2 ? 0 : 6;
    int bodies = 0;
#pragma omp parallel for collapse(3) num_threads(threads) schedule(dynamic)
    for (int i = 0; i < a; i++)
      for (int j = 0; j < b; j++)
        for (int k = 0; k < c; k++) {
#pragma omp atomic
          bodies++;
        }
#pragma omp parallel for collapse(3) num_threads(threads)
    for (int i = 0; i < a; i++)
      for (int j = 0; j < b; j++)
        for (long long k = 0; k < c; k++) {
#pragma omp atomic
          bodies++;
        }
    CHECK_EQ(bodies, 0);
  }
}

// The bounds of the inner loop depend on the outer variable (OpenMP 5.0).
static void triangular(int threads)
{
  int times[40][40];
  memset(times, 0, sizeof times);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for collapse(2)
    for (int i = 0; i < 40; i++)
      for (int j = 0; j <= i; j++) {
#pragma omp atomic
        times[i][j]++;
      }
#pragma omp for collapse(2)
    for (int i = 0; i < 40; i++)
      for (int j = i + 1; j < 40; j++) {
#pragma omp atomic
        times[i][j]++;
      }
  }
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++) CHECK_EQ(times[i][j], 1);
}

static void lastprivates(int threads)
{
  int i, j, last = -1;
#pragma omp parallel for collapse(2) num_threads(threads) lastprivate(i, j, last) schedule(dynamic, 2)
  for (i = 0; i < 11; i++)
    for (j = 0; j < 22; j += 3) last = i * 100 + j;
  CHECK_EQ(i, 11);
  CHECK_EQ(j, 24);
  CHECK_EQ(last, 1021);
}

int main(void)
{
  everywhere(two, deep, nothing, triangular, lastprivates);
  return check_result();
}
