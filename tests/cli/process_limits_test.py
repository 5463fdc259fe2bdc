# SPDX-License-Identifier: Apache-2.0
"""What the process is limited to: memory that is locked, a stack of a few pages, hardly any files."""

import ctypes
import os
import re
import subprocess
import unittest

from command_test import CommandTest

WEFT = os.environ["WEFT_COMMAND"]
# A region by members whose number comes first, in locked memory; how many there were, and MiB that are locked and there.
LOCKED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static long mebibytes(const char *name) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[200];
  long found = -1;
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, name, strlen(name)) == 0) found = atol(line + strlen(name)) / 1024;
  if (status) fclose(status);
  return found;
}
int main(int count, char **words) {
  int members = 0;
  if (count < 2 || mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 77;
#pragma omp parallel num_threads(atoi(words[1])) reduction(+ : members)
  members++;
  printf("%d %ld %ld\n", members, mebibytes("VmLck:"), mebibytes("VmRSS:"));
  return 0;
}
"""
REGION = r"""
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  printf("%d\n", members);
  return 0;
}
"""
# How much of the stack is left differs from run to run. With 16 KiB the dynamic linker itself crashes at times, whatever
# the program is.
SMALL = 20 << 10
RUNS = 20


# No program that is started may raise its limits then, though root starts it.
def raise_nothing():
    pr_capbset_drop, cap_sys_resource = 24, 24
    ctypes.CDLL(None).prctl(pr_capbset_drop, cap_sys_resource, 0, 0, 0)


class ProcessLimits(CommandTest):
    # By a program in between, since the limits hold at once, for the code here too.
    def run_limited(self, limit, *words):
        command = ["prlimit", limit, WEFT, *words]
        return subprocess.run(command, preexec_fn=raise_nothing, capture_output=True, text=True, timeout=60)

    # libc gives threads that allocate areas of 64 MiB of addresses.
    def test_what_is_locked_is_used(self):
        program = self.build("locked", LOCKED)
        for cpus in 2, 4:
            for members in 2, 4, 16:
                for _ in range(5):
                    done = self.weft("run", "--cpus", str(cpus), program, str(members))
                    if done.returncode == 77:
                        self.skipTest("this user may not lock memory (ulimit -l)")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    got, locked, there = map(int, done.stdout.split())
                    self.assertEqual(got, members)
                    self.assertLess(locked, there + 32, done.stdout)

    def test_of_the_command_with_a_small_stack(self):
        for words in ["info"], ["--version"], ["run", "--help"]:
            for _ in range(RUNS):
                done = self.run_limited(f"--stack={SMALL}:{SMALL}", *words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_of_programs_with_a_small_stack(self):
        program = self.build("region", REGION)
        for options in [], ["--preload"]:
            for _ in range(RUNS):
                done = self.run_limited(f"--stack={SMALL}:{1 << 20}", "run", *options, program)
                self.assertEqual((done.returncode, done.stdout), (0, "2\n"), done.stderr)
                self.assertRegex(done.stderr, r"^weft: ulimit -s 20: .*, which runs with ulimit -s 64\n$")
                done = self.run_limited(f"--stack={SMALL}:{SMALL}", "run", *options, program)
                self.assertRegex(done.stderr, r"^weft: ulimit -s 20: .*; enough is ulimit -s 64\n$")

    def test_without_files(self):
        program = self.build("region", REGION)
        for files in range(3, 8):
            for words in ["info"], ["run", program], ["run", "--preload", program]:
                done = self.run_limited(f"--nofile={files}:{files}", *words)
                self.assertGreaterEqual(done.returncode, 0, words)  # no signal
                if words[0] == "run" and files > 3:
                    self.assertEqual((done.returncode, done.stdout), (0, "2\n"), (words, files, done.stderr))
                if done.returncode != 0:
                    self.assertTrue(re.search("Too many open files|Error 24", done.stderr), (words, files, done.stderr))


if __name__ == "__main__":
    unittest.main()
