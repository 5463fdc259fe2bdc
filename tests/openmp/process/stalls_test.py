# SPDX-License-Identifier: Apache-2.0
"""Threads beyond the CPUs: members that poll for others are lent what they need and soon have it from the start; members
that compute are not."""

import os
import re
import unittest

from support import ProcessTest

# argv: members outside, members inside of each, CPU milliseconds of each, chunks of a dynamic loop (0: none).
COMPUTATION = """
#include <omp.h>
#include <stdlib.h>
#include <time.h>
static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static volatile double sink;
static void compute(double ms) {
  for (double begin = used(); used() - begin < 1e-3 * ms;)
    for (int i = 0; i < 1000; i++) sink += i;
}
int main(int argc, char **argv) {
  int outer = atoi(argv[argc - 4]), inner = atoi(argv[argc - 3]), chunks = atoi(argv[argc - 1]);
  double ms = atof(argv[argc - 2]);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(inner)
  {
    if (chunks == 0) compute(ms);
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < inner * chunks; i++) compute(ms / chunks);
  }
  return 0;
}
"""

# argv: regions. The first member polls until the other one has ended.
POLLER = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int regions = atoi(argv[argc - 1]);
  double begin = 0;
  for (int i = 0; i < regions; i++) {
    if (i == regions / 2) begin = omp_get_wtime();
    int done = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
      while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) continue;
    else
      __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  }
  printf("%.3f\\n", 1e3 * (omp_get_wtime() - begin) / (regions - regions / 2));
  return 0;
}
"""

# Members that poll for each other, more of them than CPUs. Prints how many threads are bound to one CPU while they do, and
# how many are left a while after.
CROWD = r"""
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static _Atomic int arrived, passed;
static void meet(int members) {
  const int before = passed;
  if (atomic_fetch_add(&arrived, 1) == members - 1) arrived = 0, passed = before + 1;
  while (passed == before) {}
}
static int bound(void) {
  DIR *tasks = opendir("/proc/self/task");
  int found = 0;
  for (struct dirent *task; (task = readdir(tasks)) != 0;) {
    char path[512], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
      int cpu;
      char end;
      found += sscanf(line, "Cpus_allowed_list: %d%c", &cpu, &end) == 2 && end == '\n';
    }
    if (file) fclose(file);
  }
  closedir(tasks);
  return found;
}
int main(void) {
  int most = 0;
  for (int region = 0; region < 60; region++) {
#pragma omp parallel num_threads(6)
    {
      for (int i = 0; i < 3; i++) meet(6);
#pragma omp single
      {
        const int now = bound();
        most = now > most ? now : most;
      }
      meet(6);
    }
  }
  sleep(4);
  printf("%d %d\n", most, bound());
  return 0;
}
"""


def lent(stderr):
    return int(re.search(r"compensations: (\d+)", stderr)[1])


class Stalls(ProcessTest):
    def lent_to_computation(self, *arguments):
        program = self.build("computation", COMPUTATION)
        done = self.run_on_weft(program, *map(str, arguments), WEFT_STATS="all", WEFT_NUM_CPUS="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        return lent(done.stderr)

    # A look now and then whether members wait: one thread, and ever more rarely.
    def test_computation_is_lent_next_to_nothing(self):
        for arguments in ((2, 32, 20, 0), (1, 64, 20, 0), (1, 64, 20, 4), (1, 64, 20, 200)):
            with self.subTest(arguments=arguments):
                self.assertLessEqual(self.lent_to_computation(*arguments), 6)

    # Long members look like waiting ones: a few threads, which are taken back when the first members have ended.
    def test_long_computation_is_lent_few(self):
        # Where other processes take the CPUs, members look still for longer than they compute.
        self.assertLessEqual(min(self.lent_to_computation(2, 8, 500, 0) for _ in range(3)), 10)

    # A thread for each CPU wakes there, so that those that poll have short turns.
    @unittest.skipUnless(
        len(os.sched_getaffinity(0)) > 1, "a thread that is bound to the one CPU cannot be told from others"
    )
    def test_gangs_that_share_cpus_have_short_turns(self):
        program = self.build("crowd", CROWD)
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
        done = self.run_on_weft("taskset", "-c", cpus, program)
        self.assertEqual(done.returncode, 0, done.stderr)
        most, left = map(int, done.stdout.split())
        self.assertIn(most, (1, 2))
        self.assertEqual(left, 0)

    # The search is paid a few times, not in each region: as many lent by the monitor as it takes to learn.
    def test_polling_regions_are_learned(self):
        program = self.build("poller", POLLER)
        done = self.run_on_weft(program, "20000", WEFT_STATS="all", WEFT_NUM_CPUS="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(lent(done.stderr), 50)
        # The case of a gang is looked at again now and then, and the first loan stays for a while.
        learned = int(re.search(r"regions lent threads from their beginning: (\d+)", done.stderr)[1])
        self.assertGreaterEqual(learned, 10000)


if __name__ == "__main__":
    unittest.main()
