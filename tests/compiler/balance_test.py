# SPDX-License-Identifier: Apache-2.0
"""How the runtime divides regions that are one loop, by WEFT_BALANCE, WEFT_GRAIN and WEFT_REGION_THREADS: who takes what,
never how long it takes."""

import os
import pathlib
import re
import unittest

from support import CLANG, ProcessTest

WEFTCC = pathlib.Path(os.environ["WEFT_DRIVER_DIR"]) / "weftcc"
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
MEMBERS = 4

# As weftcc would make it, but the body prints its ranges: region, member, begin, end.
RANGES = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "weft/loop.h"
#pragma weak weft_parallel_for
static int pause_us, region;
static void body(struct weft_range *range, void **captures)
{
  (void)captures;
  while (range->next(range)) {
    printf("%d %d %llu %llu\n", region, range->number, (unsigned long long)range->begin, (unsigned long long)range->end);
    if (pause_us) usleep((unsigned)(pause_us * (range->end - range->begin)));
  }
}
int main(int count, char **arguments)
{
  static struct weft_loop loop = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_ALONE};
  if (count > 4) loop.flags |= WEFT_LOOP_MONOTONIC;
  pause_us = atoi(arguments[2]);
  for (; region < atoi(arguments[3]); region++)
    if (!weft_parallel_for(&loop, body, NULL, strtoull(arguments[1], NULL, 10), 0)) return 1;
  return 0;
}
"""
# Regions of a loop whose iterations take no time, and then, once, a millisecond each: how many members took part in the
# short region before and in the long one, and how many iterations the primary had of that.
CHANGING = r"""
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "weft/loop.h"
#pragma weak weft_parallel_for
enum { COUNT = 64 };
static int pause_us, members, primarys, runs[COUNT];
static void body(struct weft_range *range, void **captures)
{
  int mine = 0;
  (void)captures;
  while (range->next(range))
    for (uint64_t i = range->begin; i < range->end; i++) {
      mine++;
      runs[i]++;
      if (pause_us) usleep((unsigned)pause_us);
    }
  if (mine > 0) __atomic_fetch_add(&members, 1, __ATOMIC_RELAXED);
  if (range->number == 0) primarys = mine;
}
static void regions(int before)
{
  static struct weft_loop loop = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_ALONE};
  int last = 0;
  for (int k = 0; k <= before; k++) {
    last = members;
    members = 0;
    if (k == before) pause_us = 1000;
    if (!weft_parallel_for(&loop, body, NULL, COUNT, 0)) exit(1);
    for (int i = 0; i < COUNT; i++)
      if (runs[i] != k + 1) exit(2);
  }
  printf("%d %d %d\n", last, members, primarys);
}
int main(int count, char **arguments)
{
  (void)count;
  if (atoi(arguments[2]) == 0) {
    regions(atoi(arguments[1]));
    return 0;
  }
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp master
  regions(atoi(arguments[1]));
  return 0;
}
"""
# Regions of two iterations that push tasks: which threads have run those of the last one.
TASKS = r"""
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { ITERATIONS = 2, TASKS = 32 };
static pthread_t who[ITERATIONS * TASKS];
static void region(void)
{
#pragma omp parallel for
  for (int i = 0; i < ITERATIONS; i++)
    for (int t = 0; t < TASKS; t++) {
#pragma omp task firstprivate(i, t)
      {
        usleep(2000);
        who[i * TASKS + t] = pthread_self();
      }
    }
}
static void regions(void)
{
  int threads = 0;
  for (int k = 0; k < 3; k++) region();
  for (int t = 0; t < ITERATIONS * TASKS; t++) {
    int first = 0;
    while (!pthread_equal(who[first], who[t])) first++;
    threads += first == t;
  }
  printf("%d\n", threads);
}
int main(int count, char **arguments)
{
  (void)count;
  if (atoi(arguments[1]) == 0) {
    regions();
    return 0;
  }
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp master
  regions();
  return 0;
}
"""
# Regions of little work, compiled by weftcc.
SMALL = r"""
#include <stdio.h>
#include <stdlib.h>
static double cells[4096];
static int members(void)
{
  int found = 0;
#pragma omp parallel num_threads(8) reduction(+ : found)
  found++;
  return found;
}
int main(int count, char **arguments)
{
  const int n = atoi(arguments[1]);
  (void)count;
  for (int k = 0; k < 100; k++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) cells[i] += i;
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += cells[i];
  printf("%g %d\n", sum / 100 - n * (n - 1) / 2., members());
  return 0;
}
"""
# A function, which no compiler sees from the loop, asks who runs an iteration.
CHUNKS = r"""
#include <omp.h>
#include <stdio.h>
int main(void)
{
  int (*volatile number)(void) = omp_get_thread_num;
  int who[100], wrong = 0;
#pragma omp parallel for schedule(runtime) num_threads(4)
  for (int i = 0; i < 100; i++) who[i] = number();
  for (int i = 0; i < 100; i++) wrong += who[i] != i / 3 % 4;
  printf("%d\n", wrong);
  return 0;
}
"""


class Loops(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ranges_program = cls.build("ranges", RANGES, f"-I{INCLUDE}", compiler=CLANG)
        cls.chunks = cls.build("chunks", CHUNKS, compiler=str(WEFTCC))
        cls.changing = cls.build("changing", CHANGING, f"-I{INCLUDE}", compiler=str(WEFTCC))
        cls.tasks = cls.build("tasks", TASKS, compiler=str(WEFTCC))
        cls.small = cls.build("small", SMALL, compiler=str(WEFTCC))

    def loops(self, program, *arguments, **variables):
        return self.run_on_weft(
            program, *arguments, WEFT_NUM_CPUS="8", OMP_NUM_THREADS=str(MEMBERS), WEFT_STATS="all", **variables
        )

    def ranges(self, count, pause_us, regions, *more, **variables):
        """For each region its ranges (member, begin, end) as they were printed; checks that they make up the loop."""
        done = self.loops(self.ranges_program, count, pause_us, regions, *more, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [[] for _ in range(regions)]
        for line in done.stdout.splitlines():
            region, member, begin, end = map(int, line.split())
            self.assertLess(member, MEMBERS)
            found[region].append((member, begin, end))
        for region in found:
            at = 0
            for begin, end in sorted((begin, end) for _, begin, end in region):
                self.assertEqual(begin, at)
                at = end
            self.assertEqual(at, count)
        return found

    def statistics(self, done):
        found = re.search(
            r"regions that are one loop: (\d+), run whole by their caller: (\d+)\n"
            r"  iterations of them: (\d+), in ranges: (\d+), taken by others: (\d+)\n",
            done.stderr,
        )
        self.assertTrue(found, done.stderr)
        return tuple(map(int, found.groups()))

    def test_static(self):
        for pause_us in (0, 100):
            for region in self.ranges(402, pause_us, 5, WEFT_BALANCE="static"):
                self.assertEqual(sorted(region), [(0, 0, 101), (1, 101, 202), (2, 202, 302), (3, 302, 402)])

    def test_affinity_keeps_the_parts_of_small_loops(self):
        """By default such a loop is soon run by its caller alone; a busy machine may make it look long, once."""
        for _ in range(10):
            regions, whole, iterations, _, _ = self.statistics(self.loops(self.small, 16, WEFT_BALANCE="auto"))
            self.assertEqual((regions, iterations), (100, 1600))
            if whole > 0:
                break
        self.assertGreater(whole, 0)
        regions, whole, iterations, ranges, _ = self.statistics(self.loops(self.small, 16, WEFT_BALANCE="affinity"))
        self.assertEqual((regions, whole, iterations), (100, 0, 1600))
        self.assertGreaterEqual(ranges, 400)  # at least one in each part

    def test_a_loop_that_becomes_long_gets_its_members(self):
        """Its caller has run it alone so far, and begins to do so this time."""
        for nested in (0, 1):
            alone = 0
            for _ in range(20):
                done = self.loops(self.changing, 300, nested)
                self.assertEqual(done.returncode, 0, done.stderr)
                before, members, primarys = map(int, done.stdout.split())
                self.assertEqual(members, MEMBERS, done.stdout)
                self.assertLess(primarys, 40, done.stdout)
                alone += before == 1
                if alone == 3:
                    break
            self.assertGreater(alone, 0, "never run alone before: a busy machine?")

    def test_all_members_run_the_tasks_of_a_few_iterations(self):
        for nested in (0, 1):
            done = self.loops(self.tasks, nested)
            self.assertEqual(done.stdout, f"{MEMBERS}\n", (nested, done.stderr))

    def test_steal_takes_a_grain_at_once(self):
        taken_by_others = 0
        for region in self.ranges(400, 100, 3, WEFT_BALANCE="steal", WEFT_GRAIN="10"):
            self.assertEqual({end - begin for _, begin, end in region}, {10})
            taken_by_others += sum(member != 0 for member, _, _ in region)
        self.assertGreater(taken_by_others, 0)

    def test_central_hands_out_in_order(self):
        taken_by_others = 0
        for region in self.ranges(400, 100, 3, WEFT_BALANCE="central", WEFT_GRAIN="10"):
            self.assertEqual({end - begin for _, begin, end in region}, {10})
            for member in range(MEMBERS):
                begins = [begin for who, begin, _ in region if who == member]
                self.assertEqual(begins, sorted(begins))
            taken_by_others += sum(member != 0 for member, _, _ in region)
        self.assertGreater(taken_by_others, 0)

    def test_monotonic_loops_ascend_within_each_member(self):
        for balance in ("auto", "static", "affinity", "steal", "central"):
            taken_by_others = 0
            for region in self.ranges(400, 100, 3, "monotonic", WEFT_BALANCE=balance):
                for member in range(MEMBERS):
                    begins = [begin for who, begin, _ in region if who == member]
                    self.assertEqual(begins, sorted(begins), balance)
                taken_by_others += sum(member != 0 for member, _, _ in region)
            self.assertGreater(taken_by_others, 0, balance)

    def test_chunks_of_a_static_schedule_are_certain_members_own(self):
        done = self.loops(self.chunks, OMP_SCHEDULE="static,3")
        self.assertEqual(done.stdout, "0\n", done.stderr)

    def test_auto_takes_few_long_iterations_at_once(self):
        """A little of a part while nothing is known; then no more than some microseconds of work."""
        firsts = [
            next((begin, end) for member, begin, end in region if member == 0) for region in self.ranges(400, 100, 3)
        ]
        self.assertEqual(firsts, [(0, 3), (0, 1), (0, 1)])

    def test_grain_of_iterations(self):
        for region in self.ranges(400, 0, 5, WEFT_GRAIN="400"):
            self.assertEqual(region, [(0, 0, 400)])
        for region in self.ranges(400, 100, 3, WEFT_GRAIN="200"):
            self.assertEqual({member for member, _, _ in region} - {0, 1}, set())
            self.assertEqual(max(end - begin for _, begin, end in region), 200)

    def test_grain_of_time(self):
        # Not known at first; then 400 iterations of 100 us are less than that.
        _, *later = self.ranges(400, 100, 4, WEFT_GRAIN="1000000us")
        for region in later:
            self.assertEqual(region, [(0, 0, 400)])
        # But more than this. The first range of the primary holds at least as much.
        for region in self.ranges(400, 100, 3, WEFT_GRAIN="1us"):
            self.assertGreater(len(region), 1)

    def test_iterations_that_are_no_more_than_members_are_one_each(self):
        """They may wait for each other. Here they take so long that each member comes for its own."""
        for balance in ("auto", "static", "affinity", "steal", "central"):
            for region in self.ranges(MEMBERS, 2000, 3, WEFT_BALANCE=balance, WEFT_GRAIN="100"):
                self.assertEqual({end - begin for _, begin, end in region}, {1})

    def test_region_threads(self):
        for cap, members in (("1", "1"), ("3", "3"), ("100", "8")):
            done = self.loops(self.small, 64, WEFT_REGION_THREADS=cap, WEFT_BALANCE="affinity")
            self.assertEqual(done.stdout, f"0 {members}\n")
        self.assertEqual(
            {member for region in self.ranges(400, 100, 2, WEFT_REGION_THREADS="2") for member, _, _ in region}
            - {0, 1},
            set(),
        )

    def test_results_by_every_balance(self):
        for balance in ("auto", "static", "affinity", "steal", "central"):
            for count in (0, 1, 3, 5, 4096):
                for grain in ("1", "100", "5us"):
                    done = self.loops(self.small, count, WEFT_BALANCE=balance, WEFT_GRAIN=grain)
                    self.assertEqual(done.stdout, "0 8\n", (balance, count, grain))


if __name__ == "__main__":
    unittest.main()
