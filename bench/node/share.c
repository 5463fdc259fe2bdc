// SPDX-License-Identifier: Apache-2.0
// A program as there are many: regions that use all threads, of work that is not even, and short serial parts between
// them. `share [--regions N]`; run beside copies of itself it shows what sharing the node costs.
#include <stdlib.h>
#include <string.h>

#include "common/measure.h"

enum { kBlocks = 64, kUnits = 300, kSerialUnits = 200 };

static void region(void) {
#pragma omp parallel for schedule(dynamic)
  for (int block = 0; block < kBlocks; block++) work(kUnits + block);
}

int main(int argument_count, char** arguments) {
  long regions = 2000;
  if (argument_count == 3 && strcmp(arguments[1], "--regions") == 0) regions = atol(arguments[2]);
  const double begin = now();
  for (long i = 0; i < regions; i++) {
    region();
    work(kSerialUnits);
  }
  const double seconds = now() - begin;
  begin_report();
  report_samples("share", "s", &seconds, 1);
  end_report();
  return 0;
}
