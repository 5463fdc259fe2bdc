// SPDX-License-Identifier: Apache-2.0
// Regions whose members call a function of another language.
#include <omp.h>

void region(int members, int rounds, void (*call)(int member, int phase))
{
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(members)
    for (int phase = 0; phase < 3; phase++) {
      call(omp_get_thread_num(), phase);
#pragma omp barrier
    }
  }
}
