# SPDX-License-Identifier: Apache-2.0
"""Tools and programs by weftcc: the checker (tests/openmp/tools) judges what is told of regions that are one loop; `weft
trace` shows them."""

import json
import os
import pathlib
import subprocess
import unittest

from support import TIMEOUT_S, ProcessTest

HERE = pathlib.Path(__file__).resolve().parent
DRIVERS = pathlib.Path(os.environ["WEFT_DRIVER_DIR"])
TOOLS = HERE.parent / "openmp/tools"
INCLUDE = HERE.parents[1] / "include"

# Loops inside loops, from two threads of the program's, with all that a body may do.
PROGRAM = r"""
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
enum { n = 200 };
static int failed;
static long inner(int k)
{
  long sum = 0, last = -1;
#pragma omp parallel for num_threads(3) reduction(+ : sum) lastprivate(last)
  for (int i = 0; i < n; i++) {
    sum += i;
    last = i;
  }
  if (last != n - 1) failed = 1;
#pragma omp parallel for num_threads(4) schedule(dynamic, 7) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += k;
#pragma omp parallel for num_threads(2) schedule(guided)
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    sum += 1;
  }
  return sum;
}
static long tasks(void)
{
  long sum = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 50; i++) {
#pragma omp task shared(sum)
#pragma omp atomic
    sum += i;
  }
  return sum;
}
static void empty(int count)
{
#pragma omp parallel for
  for (int i = 0; i < count; i++) failed = 1;
}
static void *all(void *unused)
{
  for (int round = 0; round < 30; round++) {
    long sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int k = 0; k < 20; k++) sum += inner(k);
    if (sum != 20L * (n * (n - 1) / 2 + n) + 190 * n) failed = 1;
    if (tasks() != 50 * 49 / 2) failed = 1;
    // A plain region between them: with a barrier at its end, which the members must have kept count of.
    int members = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
      members++;
#pragma omp barrier
#pragma omp single
      if (members != 4 && !omp_get_dynamic()) failed = 1;
    }
    empty(0);
  }
  return unused;
}
int main(void)
{
  pthread_t other;
  pthread_create(&other, NULL, all, NULL);
  all(NULL);
  pthread_join(other, NULL);
  if (failed) puts("failed");
  return failed;
}
"""
TRACED = r"""
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) static void loop(void)
{
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 40; i++) usleep(1000);
  sink = 0;  // else the call is a jump
}
__attribute__((noinline)) static void plain(void)
{
#pragma omp parallel num_threads(2)
  usleep(1000);
  sink = 0;
}
__attribute__((noinline)) static void whole(void)
{
#pragma omp parallel for num_threads(1)
  for (int i = 0; i < 40; i++) sink = i;
  sink = 0;
}
int main(void)
{
  loop();
  plain();
  whole();
  return 0;
}
"""


class Tools(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.checker = cls.build(
            "checker.so", (TOOLS / "checker.c").read_text(), "-fPIC", "-shared", "-fno-openmp", f"-I{INCLUDE}"
        )

    def build_by_weftcc(self, name, source, *flags):
        return self.build(name, source, *flags, compiler=str(DRIVERS / "weftcc"))

    def test_events_of_loops(self):
        for level in ("-O0", "-O2"):
            program = self.build_by_weftcc("loops" + level, PROGRAM, level)
            for variables in (
                {},
                {"WEFT_NUM_CPUS": "1"},
                {"WEFT_NUM_CPUS": "8"},
                {"OMP_WAIT_POLICY": "passive"},
                {"OMP_MAX_ACTIVE_LEVELS": "1"},
                {"OMP_THREAD_LIMIT": "3", "OMP_DYNAMIC": "true"},
                {"WEFT_BALANCE": "static"},
                {"WEFT_BALANCE": "steal"},
                {"WEFT_BALANCE": "central"},
                {"WEFT_BALANCE": "affinity", "WEFT_NUM_CPUS": "4"},
            ):
                with self.subTest(level=level, variables=variables):
                    done = self.run_on_weft(
                        program,
                        OMP_TOOL_LIBRARIES=str(self.checker),
                        CHECKER_EXPECT="parallel_begin,implicit_task,work,dispatch,sync_region,loop",
                        **{"CHECKER_ADDRESSES": "1"} if level == "-O0" else {},
                        **variables,
                    )
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_members_that_have_not_begun_have_no_events(self):
        """Loops of little work are run by fewer members than the team has."""
        program = self.build_by_weftcc("left_out", PROGRAM, "-O2")
        done = self.run_on_weft(program, OMP_TOOL_LIBRARIES=str(self.checker), CHECKER_EXPECT="left_out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_runtime_does_the_same_with_a_tool(self):
        program = self.build_by_weftcc("same", PROGRAM, "-O2")
        counts = []
        for tool in ({}, {"OMP_TOOL_LIBRARIES": str(self.checker)}):
            done = self.run_on_weft(program, WEFT_STATS="all", **tool)
            self.assertEqual(done.returncode, 0, done.stderr)
            counts.append(int(done.stderr.split("regions that are one loop: ")[1].split(",")[0]))
        self.assertEqual(counts[0], counts[1])

    def test_trace(self):
        program = self.build_by_weftcc("traced", TRACED, "-O1")
        file = self.folder / "trace.json"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "WEFT_"))}
        subprocess.run(
            [DRIVERS / "weft", "trace", "-o", file, program],
            env=environment | {"WEFT_NUM_CPUS": "8"},
            check=True,
            timeout=TIMEOUT_S,
        )
        teams = {}
        for event in json.loads(file.read_text())["traceEvents"]:
            if event.get("cat") == "member":
                teams.setdefault(event["args"]["at"].split("+")[0], []).append(event)
        self.assertEqual(set(teams), {"loop", "plain", "whole"})
        for event in teams["plain"]:
            self.assertRegex(event["name"], r"^team \d+, member \d of 2$")
            self.assertNotIn("loop", event["args"])
        for name in ("loop", "whole"):
            members = {event["args"]["member"] for event in teams[name]}
            for event in teams[name]:
                self.assertRegex(event["name"], r"^loop region \d+, member \d of \d$")
                loop = event["args"]["loop"]
                self.assertEqual((loop["iterations"], loop["members"]), (40, len(members)))
                self.assertEqual(loop["whole"], name == "whole")
        loop = teams["loop"][0]["args"]["loop"]
        self.assertGreater(loop["members"], 1)
        self.assertGreater(loop["taken by others"], 0)
        self.assertGreater(loop["ranges"], loop["taken by others"])


if __name__ == "__main__":
    unittest.main()
