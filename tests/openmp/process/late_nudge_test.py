# SPDX-License-Identifier: Apache-2.0
"""A member that is called to the tasks of one region, and comes when the next one has tasks, runs these before its own
part of that region begins. gdb holds the member for so long."""

import os
import shutil
import unittest

from finished import finished
from support import RUNTIME, TIMEOUT_S, ProcessTest

# The first region's tasks come when member 1 has left: it is called. Those of the second reduce.
PROGRAM = """
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
static volatile int by_member[2];
__attribute__((noinline)) static void tasks_are_there(void) {
  for (int i = 0; i < 20000 && by_member[1] == 0; i++) usleep(500);
}
int main(void) {
  long sum = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    usleep(100000);
#pragma omp task
    by_member[0] = 0;
    usleep(100000);
  }
#pragma omp parallel num_threads(2) reduction(task, + : sum)
  if (omp_get_thread_num() == 0) {
    for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        sum += 1;
        by_member[omp_get_thread_num()] += 1;
      }
    }
    tasks_are_there();
  }
  printf("sum %ld, %d by member 1\\n", sum, by_member[1]);
  return 0;
}
"""


@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
class LateNudge(ProcessTest):
    def test_its_tasks_reduce(self):
        program = self.build("late_nudge", PROGRAM)
        commands = [
            "set confirm off",
            "set debuginfod enabled off",
            "set breakpoint pending on",
            f"set environment LD_LIBRARY_PATH {RUNTIME}",
            "break nudge_persistent_member",
            "run",
            "set scheduler-locking on",
            "thread 1",
            "delete",
            "break tasks_are_there",
            "continue",
            "set scheduler-locking off",
            "delete",
            "continue",
        ]
        done = finished(
            ["gdb", "-nx", "-q", "-batch", *(word for command in commands for word in ("-ex", command)), program],
            env={k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_"))},
            timeout=2 * TIMEOUT_S,
        )
        text = done.stdout + done.stderr
        if "ptrace" in text and "Operation not permitted" in text:
            self.skipTest("gdb may not trace here")
        self.assertRegex(text, r"hit Breakpoint [\d.]+,? .*nudge_persistent_member", text)
        self.assertRegex(text, r"sum 8, [1-8] by member 1", text)


if __name__ == "__main__":
    unittest.main()
