// SPDX-License-Identifier: Apache-2.0
// What the picture of a trace shows: two members of an outer region with unequal work, each of which opens inner
// regions; then tasks. See trace_picture.py.
#include <math.h>

static volatile double sink;

static void busy(int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += sin(i);
  sink = sum;
}

static void inner(int size)
{
#pragma omp parallel for num_threads(4) schedule(dynamic)
  for (int i = 0; i < 16; i++) busy(size);
}

int main(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static, 1) nowait
    for (int part = 0; part < 2; part++)
      for (int round = 0; round < (part == 0 ? 2 : 5); round++) inner(60000);
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 12; i++) {
#pragma omp task
      busy(150000);
    }
  }
  return 0;
}
