// SPDX-License-Identifier: Apache-2.0
// Regions that are one construct, which is cancelled if `cancels`. They return how many iterations or sections have run.
#pragma once
// gcc says that the construct does not wait at its end, which is right and no harm, and has no option against it.
#pragma GCC system_header

static int iterations(int threads, int cancels)
{
  int done = 0;
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < 40; i++) {
    if (cancels && i % 10 == 0) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
#pragma omp atomic
    done++;
  }
  return done;
}

static int sections_done(int threads, int cancels)
{
  int done = 0;
#pragma omp parallel sections num_threads(threads)
  {
#pragma omp section
    {
      if (cancels) {
#pragma omp cancel sections
      }
#pragma omp atomic
      done++;
    }
#pragma omp section
    {
#pragma omp cancellation point sections
#pragma omp atomic
      done++;
    }
  }
  return done;
}
