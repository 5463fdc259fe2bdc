// SPDX-License-Identifier: Apache-2.0
// Reductions over arrays and array sections: whole, part, through a pointer, of a length known at run time, large.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <stdlib.h>

static void whole(int threads)
{
  int counts[16] = {0};
  double least[3] = {9, 9, 9};
#pragma omp parallel for num_threads(threads) reduction(+ : counts) reduction(min : least)
  for (int i = 0; i < 320; i++) {
    counts[i % 16]++;
    if (i % 50 < least[i % 3]) least[i % 3] = i % 50;
  }
  for (int i = 0; i < 16; i++) CHECK_EQ(counts[i], 20);
  for (int i = 0; i < 3; i++) CHECK_NEAR(least[i], 0, 0);
}

static void part(int threads)
{
  long values[20];
  for (int i = 0; i < 20; i++) values[i] = 1000 + i;
#pragma omp parallel for num_threads(threads) reduction(+ : values[5 : 10]) schedule(dynamic, 3)
  for (int i = 0; i < 100; i++) values[5 + i % 10] += 1;
  for (int i = 0; i < 20; i++) CHECK_EQ(values[i], 1000 + i + (i >= 5 && i < 15 ? 10 : 0));
}

static void run_time_length(int threads)
{
  int length = 100 * threads;
  float *values = (float *)calloc((size_t)length + 2, sizeof *values);
  int *bits = (int *)calloc((size_t)length, sizeof *bits);
#pragma omp parallel num_threads(threads) reduction(+ : values[1 : length]) reduction(| : bits[0 : length])
  for (int i = 0; i < length; i++) {
    values[1 + i] += 1;
    bits[i] |= 1 << (omp_get_thread_num() % 8);
  }
  CHECK_NEAR(values[0], 0, 0);
  CHECK_NEAR(values[length + 1], 0, 0);
  int few = threads < 8 ? threads : 8;
  for (int i = 0; i < length; i++) {
    CHECK_NEAR(values[1 + i], threads, 0);
    CHECK_EQ(bits[i], (1 << few) - 1);
  }
  free(values);
  free(bits);
}

static void two_dimensions(int threads)
{
  int table[4][6];
  memset(table, 0, sizeof table);
#pragma omp parallel for num_threads(threads) reduction(+ : table) collapse(2)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++) table[i % 4][j] += j;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++) CHECK_EQ(table[i][j], 2 * j);
}

int main(void)
{
  everywhere(whole, part, run_time_length, two_dimensions);
  return check_result();
}
