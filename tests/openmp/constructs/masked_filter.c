// SPDX-License-Identifier: Apache-2.0
// masked with a filter: by the member that the filter names, or by none.
#include "../support/check.h"
#include "../support/everywhere.h"

static void filtered(int threads)
{
  for (int chosen = 0; chosen < threads + 2; chosen++) {
    int times = 0, who = -1;
#pragma omp parallel num_threads(threads)
    {
#pragma omp masked filter(chosen)
      {
        times++;
        who = omp_get_thread_num();
      }
    }
    CHECK_EQ(times, chosen < threads);
    CHECK_EQ(who, chosen < threads ? chosen : -1);
  }
}

int main(void)
{
  everywhere(filtered);
  return check_result();
}
