// SPDX-License-Identifier: Apache-2.0
// Cancellation where OMP_CANCELLATION allows it, and that the directives do nothing where it does not.
#include "../support/check.h"
#include "../support/everywhere.h"

static void loop(int threads)
{
  int bodies = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10000; i++) {
#pragma omp atomic
      bodies++;
#pragma omp cancel for
    }
  }
  if (omp_get_cancellation())
    CHECK_IN(bodies, 1, threads + 1);
  else
    CHECK_EQ(bodies, 10000);
}

static void region(int threads)
{
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp cancel parallel
#pragma omp atomic
    after++;
  }
  CHECK_EQ(after, omp_get_cancellation() ? 0 : threads);
}

int main(void)
{
  everywhere(loop, region);
  return check_result();
}
