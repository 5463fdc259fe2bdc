# SPDX-License-Identifier: Apache-2.0
"""Whole processes and places: what OMP_DISPLAY_AFFINITY prints and when, restricted masks, and that nothing happens to
threads when nothing was asked for."""

import os
import pathlib
import re
import unittest

from support import ProcessTest

CPUS = sorted(os.sched_getaffinity(0))

# The compiler leaves out regions without anything in them.
REGIONS = """
#include <omp.h>
static volatile int something;
int main(void) {
  omp_set_max_active_levels(2);
  for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
    (void)something;
  }
#pragma omp parallel num_threads(3)
  (void)something;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
#pragma omp parallel num_threads(2)
    (void)something;
  }
  return 0;
}
"""

# The masks of all OS threads of the process in a region, and how many threads there are.
MASKS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
#pragma omp parallel num_threads(4)
  {
#pragma omp barrier
  }
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    cpu_set_t mask;
    if (sched_getaffinity(atoi(entry->d_name), sizeof mask, &mask)) continue;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
      if (CPU_ISSET((size_t)cpu, &mask)) printf("%d ", cpu);
    printf("\n");
  }
  closedir(threads);
  return 0;
}
"""


class Affinity(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.regions = cls.build("regions", REGIONS)
        cls.masks = cls.build("masks", MASKS)

    def lines(self, program, **variables):
        done = self.run_on_weft(program, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def test_display_when_something_is_new(self):
        shown = self.lines(self.regions, OMP_DISPLAY_AFFINITY="true", OMP_AFFINITY_FORMAT="%L %a %n/%N")
        # Two threads at first, not again in the next two regions; three; two again; and the nested two.
        self.assertEqual(
            sorted(shown),
            sorted(["1 0 0/2", "1 0 1/2", "1 0 0/3", "1 0 1/3", "1 0 2/3", "1 0 0/2", "1 0 1/2", "2 1 0/2", "2 1 1/2"]),
        )

    def test_display_is_off(self):
        for variables in ({}, {"OMP_DISPLAY_AFFINITY": "false"}, {"OMP_PROC_BIND": "close"}):
            self.assertEqual(self.lines(self.regions, **variables), [])

    def test_default_format(self):
        cpus = re.escape(",".join(map(str, CPUS))) if len(CPUS) < 3 else r"[0-9,-]+"
        for line in self.lines(self.regions, OMP_DISPLAY_AFFINITY="true"):
            self.assertRegex(line, rf"^level [12] thread \d+ affinity ({cpus}|{CPUS[0]}-{CPUS[-1]})$")

    def test_display_of_bound_threads(self):
        shown = self.lines(
            self.count,
            OMP_DISPLAY_AFFINITY="true",
            OMP_PROC_BIND="true",
            OMP_AFFINITY_FORMAT="%n: %A",
            OMP_NUM_THREADS=str(len(CPUS)),
        )
        self.assertEqual(sorted(shown), sorted(f"{number}: {cpu}" for number, cpu in enumerate(CPUS)))

    def test_display_env(self):
        shown = self.lines(
            self.count,
            OMP_DISPLAY_ENV="true",
            OMP_PLACES=f"{{{CPUS[-1]}}}",
            OMP_DISPLAY_AFFINITY="true",
            OMP_PROC_BIND="spread,master",
            OMP_AFFINITY_FORMAT="at %A",
            OMP_NUM_THREADS="1",
        )
        for setting in (
            f"OMP_PLACES = '{{{CPUS[-1]}}}'",
            "OMP_PROC_BIND = 'SPREAD,PRIMARY'",
            "OMP_AFFINITY_FORMAT = 'at %A'",
            "OMP_DISPLAY_AFFINITY = 'TRUE'",
        ):
            self.assertTrue(any(setting in line for line in shown), shown)

    def test_display_env_names_every_variable(self):
        elsewhere = {
            "OMP_DEBUG",
            "OMP_DISPLAY_ENV",
            "WEFT_STATIC_FACTOR",
            "WEFT_EXPLAIN",
            "WEFT_LIBRARY",
            "WEFT_RUN_PROCESS",
            "WEFT_PROFILE_FOLDER",
            "WEFT_PROFILE_PAUSED",
            "WEFT_TRACE_FILE",
            "WEFT_NUMA_RECORD",
            "WEFT_MPI",
            "WEFT_COLLECTIVES",
            *(
                f"WEFT_COLLECTIVES_{name}"
                for name in ("RULES", "AFTER", "QUEUE", "FRAGMENT", "SINGLE_COPY", "COMPARE", "REPORT")
            ),
        }
        table = (pathlib.Path(__file__).resolve().parents[3] / "src/base/options.def").read_text()
        variables = set(re.findall(r"^WEFT_OPTION\(\w+, ((?:OMP|WEFT)_\w+),", table, re.MULTILINE)) - elsewhere
        self.assertGreater(len(variables), 20)
        shown = self.lines(
            self.count,
            OMP_DISPLAY_ENV="verbose",
            OMP_CANCELLATION="true",
            WEFT_MODE="counting",
            OMP_TEAMS_THREAD_LIMIT="3",
            WEFT_REPRODUCIBLE="false",
        )
        named = dict(re.findall(r"\[host\] (\w+) = '(.*)'", "\n".join(shown)))
        self.assertEqual(set(named), variables)
        self.assertEqual(
            [
                named[name]
                for name in (
                    "OMP_CANCELLATION",
                    "WEFT_MODE",
                    "OMP_TEAMS_THREAD_LIMIT",
                    "WEFT_REPRODUCIBLE",
                    "WEFT_NODE",
                )
            ],
            ["TRUE", "counting", "3", "FALSE", "FALSE"],
        )

    def test_one_cpu(self):
        cpu = CPUS[-1]
        for variables in (
            {},
            {"OMP_PROC_BIND": "spread"},
            {"OMP_PLACES": "cores"},
            {"OMP_PLACES": "sockets"},
            {"KMP_AFFINITY": "scatter"},
            {"GOMP_CPU_AFFINITY": str(cpu)},
        ):
            with self.subTest(**variables):
                done = self.run_on_weft("taskset", "-c", cpu, self.count, OMP_NUM_THREADS="4", **variables)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "4\n", ""))

    def test_nothing_asked_for(self):
        done = self.run_on_weft(self.masks)
        everywhere = " ".join(map(str, CPUS))
        self.assertEqual({line.strip() for line in done.stdout.splitlines()}, {everywhere})

    @unittest.skipIf(len(CPUS) < 2, "needs two CPUs")
    def test_workers_are_bound(self):
        done = self.run_on_weft(self.masks, OMP_PROC_BIND="true")
        bound = {line.strip() for line in done.stdout.splitlines()}
        self.assertLessEqual({str(CPUS[0]), str(CPUS[1])}, bound)


if __name__ == "__main__":
    unittest.main()
