// SPDX-License-Identifier: Apache-2.0
// schedule(static) with and without a chunk: the distribution is fixed by the specification, and the same in
// successive loops, so that nowait between them is legal.
#include "../support/check.h"
#include "../support/everywhere.h"

enum { most_iterations = 2000 };

static void blocks(int threads)
{
  static const int lengths[] = {0, 1, 2, 15, 16, 17, 1000};
  for (int k = 0; k < 7; k++) {
    int n = lengths[k];
    int owner[most_iterations], times[most_iterations] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
      owner[i] = omp_get_thread_num();
      times[i]++;
    }
    int largest = (n + threads - 1) / threads;
    int count[most_members] = {0}, last[most_members];
    for (int i = 0; i < n; i++) {
      CHECK_EQ(times[i], 1);
      CHECK_IN(owner[i], 0, threads);
      if (count[owner[i]]) CHECK_EQ(last[owner[i]], i - 1);  // one block each
      count[owner[i]]++;
      last[owner[i]] = i;
    }
    for (int t = 0; t < threads; t++) CHECK_IN(count[t], 0, largest + 1);
  }
}

static void chunks(int threads)
{
  for (int chunk = 1; chunk < 40; chunk += 6) {
    int owner[777], times[777] = {0};
#pragma omp parallel for num_threads(threads) schedule(static, chunk)
    for (int i = 0; i < 777; i++) {
      owner[i] = omp_get_thread_num();
      times[i]++;
    }
    for (int i = 0; i < 777; i++) {
      CHECK_EQ(times[i], 1);
      CHECK_EQ(owner[i], i / chunk % threads);
    }
  }
}

static void constant_chunk(int threads)
{
  int owner[100];
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < 100; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < 100; i++) CHECK_EQ(owner[i], i % threads);
#pragma omp parallel for num_threads(threads) schedule(static, 1000)
  for (int i = 0; i < 100; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < 100; i++) CHECK_EQ(owner[i], 0);
}

static void same_in_successive_loops(int threads)
{
  double a[500], b[500], c[500];
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 500; i++) a[i] = i;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 500; i++) b[i] = a[i] * 2;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 500; i++) c[i] = a[i] + b[i];
  }
  for (int i = 0; i < 500; i++) CHECK_NEAR(c[i], 3.0 * i, 0);
}

int main(void)
{
  everywhere(blocks, chunks, constant_chunk, same_in_successive_loops);
  return check_result();
}
