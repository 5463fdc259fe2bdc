// SPDX-License-Identifier: Apache-2.0
// Many cancelled loops, in one region and over many: each must give back what the next ones need.
#include "../support/check.h"

static void many(void)
{
  for (int round = 0; round < 30; round++) {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      if (i >= 10) {
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
  }
}

int main(void)
{
  for (int region = 0; region < 10; region++) {
    int sum = 0;
#pragma omp parallel num_threads(4)
    {
      many();
#pragma omp for schedule(dynamic) reduction(+ : sum)
      for (int i = 0; i < 100; i++) sum += i;
    }
    CHECK_EQ(sum, 4950);
  }
  return check_result();
}
