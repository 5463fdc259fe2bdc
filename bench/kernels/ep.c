// SPDX-License-Identifier: Apache-2.0
// Embarrassingly parallel: pairs of normal deviates by the polar method, counted by rings. One region, one reduction of an array.
// The sums for 2^24 pairs are those published for class S of the NAS Parallel Benchmarks.
#include "kernel.h"

int main(void)
{
  enum { pairs_log2 = 24, block_log2 = 14, rings = 10 };
  const uint64_t start = 271828183;
  double sum_x = 0, sum_y = 0, counts[rings] = {0};
#pragma omp parallel for schedule(dynamic) reduction(+ : sum_x, sum_y, counts[:rings])
  for (int block = 0; block < 1 << (pairs_log2 - block_log2); block++) {
    uint64_t seed = skip_random(start, (uint64_t)block << (block_log2 + 1));
    for (int i = 0; i < 1 << block_log2; i++) {
      double x = 2 * next_uniform(&seed) - 1, y = 2 * next_uniform(&seed) - 1, square = x * x + y * y;
      if (square > 1) continue;
      double scale = sqrt(-2 * log(square) / square);
      x *= scale, y *= scale;
      counts[(int)fmax(fabs(x), fabs(y))]++;
      sum_x += x, sum_y += y;
    }
  }
  double accepted = 0;
  for (int i = 0; i < rings; i++) accepted += counts[i];
  return verdict("sum-x", sum_x, -3.247834652034740e3, 1e-8) + verdict("sum-y", sum_y, -6.958407078382297e3, 1e-8) +
         verdict("accepted", accepted, 13176389, 0);
}
