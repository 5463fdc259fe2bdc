# SPDX-License-Identifier: Apache-2.0
"""valgrind and the command, whichever starts the other: memcheck says nothing of a program that is right, and the error
of one that is wrong; the other tools run it to its end."""

import os
import unittest

from command_test import CommandTest

WEFT = os.environ["WEFT_COMMAND"]
PROGRAM = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int tree(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = tree(n - 1);
#pragma omp task shared(b)
  b = tree(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  int members = 0, sum = 0;
  omp_set_max_active_levels(2);
  for (int round = 0; round < 50; round++)
#pragma omp parallel num_threads(4) reduction(+ : members)
    members++;
#pragma omp parallel num_threads(3) reduction(+ : members)
#pragma omp parallel num_threads(3) reduction(+ : members)
  {
#pragma omp barrier
    members++;
  }
#pragma omp parallel num_threads(4)
#pragma omp single
  sum = tree(8);
  volatile char *memory = malloc(10);
  CHECK
  printf("%d %d\n", members, sum);
  free((void *)memory);
  return 0;
}
"""
SILENT = (
    "valgrind",
    "--quiet",
    "--error-exitcode=9",
    "--leak-check=full",
    "--show-leak-kinds=definite",
    "--errors-for-leak-kinds=definite",
)


class Valgrind(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.right = cls().build("right", PROGRAM, "-DCHECK=", "-g")
        cls.wrong = cls().build("wrong", PROGRAM, "-DCHECK=memory[10]=1;", "-g")

    def ways(self, tool, program):
        yield ("run", *tool, program)
        yield ("run", "--preload", *tool, program)
        yield ("run", "sh", "-c", " ".join((*tool, str(program))))

    def expect(self, done):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "209 21\n", ""))

    def test_memcheck(self):
        for command in self.ways(SILENT, self.right):
            with self.subTest(command=command):
                self.expect(self.weft(*command))

    def test_the_command_under_memcheck(self):
        self.expect(self.command(*SILENT, "--trace-children=yes", WEFT, "run", self.right))

    def test_errors_are_told(self):
        for command in self.ways(SILENT, self.wrong):
            with self.subTest(command=command):
                done = self.weft(*command)
                self.assertEqual(done.returncode, 9)
                self.assertIn("wrong.c", done.stderr)

    def test_nobody_spins(self):
        """valgrind runs one thread at a time."""
        for wanted, set_to in (("0", {}), ("0", {"OMP_WAIT_POLICY": "active"}), ("7", {"WEFT_SPIN_US": "7"})):
            with self.subTest(set_to=set_to):
                done = self.weft(
                    "run", "valgrind", "--quiet", "--tool=none", self.right, env={"OMP_DISPLAY_ENV": "verbose"} | set_to
                )
                self.assertEqual(done.returncode, 0)
                self.assertIn(f"WEFT_SPIN_US='{wanted}'", done.stderr.replace(" = ", "="))

    def test_other_tools(self):
        for tool in "helgrind", "callgrind", "none":
            with self.subTest(tool=tool):
                words = ("valgrind", "--quiet", f"--tool={tool}", "--log-file=/dev/null")
                if tool == "callgrind":
                    words += ("--callgrind-out-file=/dev/null",)
                self.expect(self.weft("run", *words, self.right))


if __name__ == "__main__":
    unittest.main()
