// SPDX-License-Identifier: Apache-2.0
// Leagues in target regions that run on the host, inside regions whose members all wait for them.
#include "../support/check.h"
#include "../support/everywhere.h"

static void inside_single(int threads)
{
  int values[24] = {0}, wrong = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
#pragma omp target teams distribute parallel for map(values)
    for (int i = 0; i < 24; i++) values[i] += i;
    for (int i = 0; i < 24; i++) {
      if (values[i] != i) {
#pragma omp atomic
        wrong++;
      }
    }
  }
  CHECK_EQ(wrong, 0);
}

int main(void)
{
  everywhere(inside_single);
  return check_result();
}
