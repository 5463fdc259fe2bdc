# SPDX-License-Identifier: Apache-2.0
"""Bad variables and a system that refuses: one clear line each on stderr, and the program still runs."""

import os
import resource
import unittest

from everyone import runtime_for_everyone
from support import COUNT, ProcessTest

DEFAULT = str(len(os.sched_getaffinity(0)))


class BadVariables(ProcessTest):
    def check(self, name, value, *words, members=None):
        """The program runs as if the variable were not set, and one line names it."""
        done = self.run_on_weft(self.count, **{name: value})
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("weft: "), lines[0])
        for word in (name, *words):
            self.assertIn(word, lines[0])
        if members:
            self.assertEqual(done.stdout.strip(), members)

    def test_num_threads(self):
        expected = self.run_on_weft(self.count).stdout.strip()
        for value in ("abc", "-1", "0", "99999999", "4,", "4;3", "1e9", "99999999999999999999"):
            with self.subTest(value=value):
                self.check("OMP_NUM_THREADS", value, value, members=expected)

    def test_others(self):
        for name, value in (
            ("OMP_STACKSIZE", "1"),
            ("OMP_STACKSIZE", "12X"),
            ("OMP_SCHEDULE", "foo,0"),
            ("OMP_SCHEDULE", "dynamic,0"),
            ("OMP_SCHEDULE", "dynamic,-3"),
            ("OMP_DYNAMIC", "maybe"),
            ("OMP_WAIT_POLICY", "lazy"),
            ("OMP_THREAD_LIMIT", "0"),
            ("OMP_MAX_ACTIVE_LEVELS", "-1"),
            ("OMP_DISPLAY_ENV", "loud"),
            ("OMP_ALLOCATOR", "some_alloc"),
            ("WEFT_NUM_CPUS", "0"),
            ("WEFT_SPIN_US", "-3"),
            ("WEFT_STATS", "2"),
            ("WEFT_REGION_THREADS", "0"),
            ("WEFT_REGION_THREADS", "5000"),
            ("WEFT_BALANCE", "dynamic"),
            ("WEFT_GRAIN", "0"),
            ("WEFT_GRAIN", "3ms"),
            ("WEFT_GRAIN", "us"),
            ("WEFT_NUMA", "bind"),
            ("WEFT_NUMA", "interleave=1-0"),
        ):
            with self.subTest(name=name, value=value):
                self.check(name, value, value)

    def test_memory_is_placed_by_the_command(self):
        for value in "interleave", "bind=0":
            self.check("WEFT_NUMA", value, "where weft run starts the program")

    def test_misspelt_names(self):
        self.check("OMP_NUM_THREDS", "3", "OMP_NUM_THREADS")
        self.check("WEFT_STAT", "1", "WEFT_STATS")

    def test_names_far_from_any_are_left_alone(self):
        done = self.run_on_weft(self.count, OMP_SOMETHING_ELSE="1", WEFT_TEST_OF_MINE="1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_long_values_are_cut(self):
        done = self.run_on_weft(self.count, OMP_NUM_THREADS="x" * 5000)
        self.assertEqual(done.returncode, 0)
        self.assertLess(len(done.stderr), 300)
        self.assertTrue(done.stderr.endswith("\n"))

    def test_good_values_say_nothing(self):
        for name, value in (
            ("OMP_NUM_THREADS", " 4 , 3 "),
            ("OMP_STACKSIZE", "2 m"),
            ("OMP_SCHEDULE", "Guided , 4"),
            ("OMP_DYNAMIC", "FALSE"),
            ("OMP_PROC_BIND", "close,spread"),
            ("OMP_PLACES", "cores"),
            ("OMP_NUM_THREADS", ""),
        ):
            with self.subTest(name=name, value=value):
                done = self.run_on_weft(self.count, **{name: value})
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class Shown(ProcessTest):
    def test_settings(self):
        """The level of OpenMP, and what libiomp5's variable does."""
        done = self.run_on_weft(self.count, OMP_DISPLAY_ENV="verbose", KMP_COMPOSABILITY="mode=exclusive")
        self.assertIn("_OPENMP = '202111'\n", done.stderr)
        self.assertIn("WEFT_MODE = 'exclusive'\n", done.stderr)


class SystemRefuses(ProcessTest):
    def test_little_address_space(self):
        """Threads are refused: smaller regions, one warning."""
        done = self.run_on_weft(self.count, limits={resource.RLIMIT_AS: 200 << 20}, OMP_NUM_THREADS="64")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout), 64)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("refuses another thread", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to become a user whose limit counts")
    def test_no_more_processes(self):
        drop = self.build(
            "drop",
            """
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
int main(int count, char **arguments) {
  struct rlimit limit = {atoi(arguments[1]), atoi(arguments[1])};
  if (setrlimit(RLIMIT_NPROC, &limit) || setgid(54322) || setuid(54322)) return 99;
  execv(arguments[2], arguments + 2);
  return count + 98;
}
""",
        )
        # A region that could be given a spare context, but no member of its own, must not wait for members either.
        meeting = self.build(
            "meeting",
            COUNT.replace(
                "  members++;",
                """  {
    members++;
#pragma omp barrier
#pragma omp barrier
  }""",
            ),
        )
        there = str(runtime_for_everyone(self.folder))
        for most in range(1, 9):
            for program in (self.count, meeting):
                with self.subTest(most=most, program=program.name):
                    done = self.run_on_weft(
                        drop, most, program, OMP_NUM_THREADS="16", WEFT_NUM_CPUS="2", LD_LIBRARY_PATH=there
                    )
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertLess(int(done.stdout), 16)
                    self.assertIn("refuses another thread", done.stderr)


class StackOverflow(ProcessTest):
    def test_message_and_signal(self):
        program = self.build(
            "overflow",
            """
#include <omp.h>
#include <stdio.h>
static int deeper(int n) {
  volatile char room[1000];
  room[n % 1000] = 1;
  return n == 0 ? 0 : deeper(n - 1) + room[n % 1000];
}
int main(void) {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == 1) printf("%d\\n", deeper(100000000));
  return 0;
}
""",
            "-O0",
        )
        done = self.run_on_weft(program, OMP_STACKSIZE="1M")
        self.assertEqual(done.returncode, -11)
        self.assertIn("OMP_STACKSIZE=2M", done.stderr)
        self.assertIn("initial thread is what ulimit -s says", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_other_faults_are_not_ours(self):
        program = self.build(
            "fault",
            """
int main(void) {
#pragma omp parallel num_threads(3)
  *(volatile int *)8 = 1;
  return 0;
}
""",
        )
        done = self.run_on_weft(program)
        self.assertEqual((done.returncode, done.stderr), (-11, ""))

    def test_handlers_of_the_program_stay(self):
        program = self.build(
            "handler",
            """
#include <signal.h>
#include <unistd.h>
static void handler(int signal) { _exit(signal + 20); }
int main(void) {
  signal(SIGSEGV, handler);
#pragma omp parallel num_threads(3)
  *(volatile int *)8 = 1;
  return 0;
}
""",
        )
        self.assertEqual(self.run_on_weft(program).returncode, 31)

    def test_stack_size_is_honoured(self):
        program = self.build(
            "big",
            """
#include <stdio.h>
#include <string.h>
int main(void) {
  int good = 0;
#pragma omp parallel num_threads(4) reduction(+ : good)
  {
    volatile char room[24 << 20];
    memset((char *)room, 1, sizeof room);
    good += room[12345];
  }
  printf("%d\\n", good);
  return 0;
}
""",
        )
        done = self.run_on_weft("/bin/sh", "-c", f"ulimit -s unlimited && exec {program}", OMP_STACKSIZE="32M")
        self.assertEqual((done.returncode, done.stdout), (0, "4\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
