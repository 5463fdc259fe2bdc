// SPDX-License-Identifier: Apache-2.0
// Integer sort: ranks keys by counting, with a table a member, a prefix sum over the members and a scatter. Barriers between phases of
// one region, and memory that all members read and write.
#include "kernel.h"

#include <omp.h>

enum { keys_log2 = 22, highest_log2 = 16, keys = 1 << keys_log2, highest = 1 << highest_log2, rounds = 5 };

// Sorts `from` into `to`; `tables` has room for `highest` counts of each member.
static void sort(const int *from, int *to, int *tables)
{
#pragma omp parallel
  {
    int me = omp_get_thread_num(), members = omp_get_num_threads();
    int *mine = tables + (size_t)me * highest;
    for (int key = 0; key < highest; key++) mine[key] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < keys; i++) mine[from[i]]++;
    // Where the keys of each member begin: by key, then by member, so that the sort is stable.
#pragma omp single
    {
      int sum = 0;
      for (int key = 0; key < highest; key++)
        for (int member = 0; member < members; member++) {
          int count = tables[(size_t)member * highest + key];
          tables[(size_t)member * highest + key] = sum;
          sum += count;
        }
    }
#pragma omp for schedule(static)
    for (int i = 0; i < keys; i++) to[mine[from[i]]++] = from[i];
  }
}

int main(void)
{
  int *from = allocate(keys, sizeof *from), *to = allocate(keys, sizeof *to);
  int *tables = allocate((size_t)omp_get_max_threads() * highest, sizeof *tables);
  double sum = 0, sorted_sum = 0;
  long disorder = 0;
#pragma omp parallel for schedule(static, 4096) reduction(+ : sum)
  for (int block = 0; block < keys / 256; block++) {
    uint64_t seed = skip_random(314159265, 4 * 256 * (uint64_t)block);
    for (int i = 256 * block; i < 256 * block + 256; i++) {
      double mean = 0;
      for (int k = 0; k < 4; k++) mean += next_uniform(&seed) / 4;
      from[i] = (int)(highest * mean);
      sum += (double)from[i] * from[i];
    }
  }
  for (int round = 0; round < rounds; round++) sort(from, to, tables);
#pragma omp parallel for reduction(+ : disorder, sorted_sum)
  for (int i = 0; i < keys; i++) {
    disorder += i > 0 && to[i - 1] > to[i];
    sorted_sum += (double)to[i] * to[i];
  }
  int wrong = verdict("disorder", (double)disorder, 0, 0) + verdict("squares", sorted_sum, sum, 0);
  printf("median %d\n", to[keys / 2]);
  free(from), free(to), free(tables);
  return wrong;
}
