# SPDX-License-Identifier: Apache-2.0
"""Regions that are not nested, with a CPU for each member, switch no identities: what a switch costs, they do not pay. A member
that has waited for longer than it may spin does switch, so waiters have all the time they want here. Where the members' threads
wait for a CPU themselves, they do switch: a region then costs some switches of identities, and none of the kernel's."""

import os
import re
import subprocess
import sys
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

# How many switches of the kernel's some regions take at best.
CROWDED = """
#include <stdio.h>
#include <sys/resource.h>
static long switches(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return use.ru_nvcsw + use.ru_nivcsw;
}
int main(void) {
  enum { tries = 12, regions = 300 };
  long least = -1;
  for (int i = 0; i < tries; i++) {
    const long before = switches();
    for (int k = 0; k < regions; k++) {
#pragma omp parallel
      {
#pragma omp barrier
      }
    }
    const long took = switches() - before;
    if (least < 0 || took < least) least = took;
  }
  printf("%ld\\n", least);
  return 0;
}
"""


class Switches(ProcessTest):
    def switches(self, program, regions):
        done = self.run_on_weft(
            program, str(regions), WEFT_STATS="all", WEFT_NUM_CPUS="2", OMP_NUM_THREADS="2", WEFT_SPIN_US="1000000"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        late = int(re.search(r"(\d+) of them late", done.stderr)[1])
        return int(re.search(r"context switches: (\d+)", done.stderr)[1]), late

    def test_flat_regions_switch_nothing(self):
        program = self.build("flat", FLAT)
        # The first region brings the member to its carrier. Where other processes keep threads from the CPUs, members
        # leave those, so a run counts in which that has not happened.
        for regions in (100, 2000):
            runs = (self.switches(program, regions) for _ in range(200))
            switches = next(switches for switches, late in runs if late == 0)
            self.assertLessEqual(switches, 8, f"{regions} regions")

    def test_the_counter_counts(self):
        self.assertGreater(self.switches(self.build("nested", NESTED), 200)[0], 200)

    def test_threads_without_a_cpu_hold_up_nobody(self):
        program = self.build("crowded", CROWDED)
        allowed = os.sched_getaffinity(0)
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            os.sched_setaffinity(hog.pid, {min(allowed)})
            os.sched_setaffinity(0, {min(allowed)})
            for policy in ("active", "passive"):
                done = self.run_on_weft(program, WEFT_NUM_CPUS="2", OMP_NUM_THREADS="2", OMP_WAIT_POLICY=policy)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertLess(int(done.stdout), 100, policy)
        finally:
            os.sched_setaffinity(0, allowed)
            hog.kill()
            hog.wait()


if __name__ == "__main__":
    unittest.main()
