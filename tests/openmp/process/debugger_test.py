# SPDX-License-Identifier: Apache-2.0
"""The gdb extension finds the members that no thread runs: where they wait, in which team, with their local variables."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from support import CLANG, GCC, RUNTIME, TIMEOUT_S, ProcessTest

EXTENSION = pathlib.Path(__file__).parents[3] / "tools" / "gdb" / "weft-gdb.py"

# 3 outer members open regions of 3: 6 wait in an inner barrier, 2 for a lock, 1 stays awake and calls everybody_waits.
BLOCKED = """
#include <omp.h>
#include <unistd.h>
static volatile int arrived, never;
__attribute__((noinline)) static void everybody_waits(void) { usleep(1000); }
__attribute__((noinline)) static void waits_in_inner_barrier(int me) {
  volatile int local_of_inner = 100 + me;
#pragma omp atomic
  arrived++;
#pragma omp barrier
  never += local_of_inner;
}
__attribute__((noinline)) static void waits_for_lock(omp_lock_t *lock) {
#pragma omp atomic
  arrived++;
  omp_set_lock(lock);
  never++;
}
__attribute__((noinline)) static void stays_awake(void) {
  while (arrived < 8) usleep(1000);
  usleep(300000);
  for (;;) everybody_waits();
}
__attribute__((noinline)) static void opens_inner(omp_lock_t *lock, int outer) {
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() < 2) waits_in_inner_barrier(omp_get_thread_num());
    else if (outer > 0) waits_for_lock(lock);
    else stays_awake();
  }
}
int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel num_threads(3)
  opens_inner(&lock, omp_get_thread_num());
}
"""


@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
@unittest.skipUnless(os.uname().machine == "x86_64", "the extension knows x86-64 only")
class Debugger(ProcessTest):
    def gdb(self, program, *commands, stop="everybody_waits"):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_"))}
        first = [
            "set confirm off",
            "set debuginfod enabled off",
            f"set environment LD_LIBRARY_PATH {RUNTIME}",
            f"source {EXTENSION}",
            f"break {stop}",
            "run",
        ]
        arguments = [part for command in [*first, *commands, "kill"] for part in ("-ex", command)]
        done = subprocess.run(
            ["gdb", "-nx", "-q", "-batch", *arguments, program],
            capture_output=True,
            text=True,
            env=environment,
            timeout=2 * TIMEOUT_S,
            check=False,
        )
        text = done.stdout + done.stderr
        if "ptrace" in text and "Operation not permitted" in text:
            self.skipTest("gdb may not trace here")
        return text

    def test_suspended_members(self):
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                program = self.build(f"blocked_{compiler}", BLOCKED, compiler=compiler)
                text = self.gdb(program, "weft threads", "echo ==\\n", "weft backtrace all")
                listing, backtraces = text.split("==\n")
                rows = [line for line in listing.splitlines() if re.search(r" [012]/3 ", line)]
                self.assertEqual(len(rows), 9, text)
                self.assertEqual(
                    len({(row.split("0x")[1].split()[0], re.search(r" ([012])/3 ", row)[1]) for row in rows}), 9, text
                )
                self.assertEqual(
                    sum(
                        " LWP " not in row.replace("asleep LWP", "") and "waits_in_inner_barrier" in row for row in rows
                    ),
                    6,
                    text,
                )
                self.assertEqual(
                    sum(" LWP " not in row.replace("asleep LWP", "") and "waits_for_lock" in row for row in rows),
                    2,
                    text,
                )
                self.assertEqual(sum(" LWP " in row and "everybody_waits" in row for row in rows), 1, text)
                self.assertEqual(backtraces.count(" opens_inner at "), 3, text)  # by the primaries of the inner regions
                self.assertEqual(len(re.findall(r"^#\d+ +main at ", backtraces, re.MULTILINE)), 1, text)

    def test_frames_of_one(self):
        program = self.build("blocked", BLOCKED)
        # The numbers of contexts depend on who came first.
        text = self.gdb(
            program,
            "python ID = [c for c in all_contexts() if 'waits_in_inner' in where(c)][0].name",
            "python gdb.execute('weft show ' + ID)",
            "frame function waits_in_inner_barrier",
            "info locals",
            "weft show",
            "bt 1",
            "continue 3",
            "info breakpoints",
        )
        self.assertRegex(text, r"local_of_inner = 10[01]\n", text)
        self.assertRegex(text, r"#0  everybody_waits \(\)", text)
        self.assertIn("already hit", text)

    def test_messages(self):
        program = self.build("blocked", BLOCKED)
        text = self.gdb(program, "weft backtrace 999", "weft backtrace")
        self.assertIn("no context 999", text)
        self.assertIn("weft backtrace ID", text)
        self.assertIn("no parallel region has begun", self.gdb(program, "weft threads", stop="main"))


if __name__ == "__main__":
    unittest.main()
