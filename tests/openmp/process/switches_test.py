# SPDX-License-Identifier: Apache-2.0
"""Regions that are not nested, with a CPU for each member, switch no identities: what a switch costs, they do not pay. A member
that has waited for longer than it may spin does switch, so waiters have all the time they want here."""
import re
import unittest

from support import ProcessTest

FLAT = """
#include <stdlib.h>
int main(int argc, char **argv) {
  int regions = atoi(argv[argc - 1]);
  double sum = 0;
  for (int i = 0; i < regions; i++) {
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
      for (int j = 0; j < 8; j++) sum += j;
#pragma omp single
      sum += 1;
#pragma omp barrier
#pragma omp critical
      sum += 1;
    }
  }
  return sum != regions * (28 + 1 + 2.0);
}
"""
NESTED = """
#include <stdlib.h>
int main(int argc, char **argv) {
  int regions = atoi(argv[argc - 1]), sum = 0;
  for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
      sum += 1;
#pragma omp barrier
    }
  }
  return sum != regions * 8;
}
"""


class Switches(ProcessTest):
    def switches(self, program, regions):
        done = self.run_on_weft(program, str(regions), WEFT_STATS="1", WEFT_NUM_CPUS="2", OMP_NUM_THREADS="2",
                                WEFT_SPIN_US="1000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(re.search(r"context switches: (\d+)", done.stderr)[1])

    def test_flat_regions_switch_nothing(self):
        program = self.build("flat", FLAT)
        # The first region brings the member to its carrier.
        for regions in (100, 2000):
            self.assertLessEqual(self.switches(program, regions), 8, f"{regions} regions")

    def test_the_counter_counts(self):
        self.assertGreater(self.switches(self.build("nested", NESTED), 200), 200)


if __name__ == "__main__":
    unittest.main()
