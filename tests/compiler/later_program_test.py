# SPDX-License-Identifier: Apache-2.0
"""Programs by a later weftcc than the runtime knows run by OpenMP's standard interface, and the statistics say so."""

import os
import pathlib
import re
import subprocess
import unittest

from support import ProcessTest

WEFTCC = pathlib.Path(os.environ["WEFT_DRIVER_DIR"]) / "weftcc"

# One region that is a loop, and one that holds a loop and more; 3 times each.
PROGRAM = r"""
#include <omp.h>
#include <stdio.h>
int main(void)
{
  long sum = 0;
  int members = 0;
  for (int k = 0; k < 3; k++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i;
#pragma omp parallel
    {
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 1000; i++) sum += i;
#pragma omp atomic
      members++;
    }
  }
  printf("%ld %d\n", sum, members);
  return 0;
}
"""
EXPECTED = "2997000 12\n"


class LaterProgram(ProcessTest):
    def build_with(self, name, change):
        """Weftcc's code with the records of its loops changed by `change`(version, flags)."""
        source, code = self.folder / f"{name}.c", self.folder / f"{name}.ll"
        source.write_text(PROGRAM)
        subprocess.run([WEFTCC, "-O1", "-fopenmp", "-S", "-emit-llvm", source, "-o", code], check=True)
        text, changed = re.subn(
            r"(%?\S*weft\S* = [^\n]*\{ i32 )(\d+), i32 (\d+)",
            lambda found: "{}{}, i32 {}".format(found[1], *change(int(found[2]), int(found[3]))),
            code.read_text(),
        )
        self.assertEqual(changed, 2, "the records of the loops are not found")
        code.write_text(text)
        program = self.folder / name
        subprocess.run([WEFTCC, "-fopenmp", code, "-o", program], check=True)
        return program

    def run_with_statistics(self, program):
        done = self.run_on_weft(program, WEFT_STATS="all", OMP_NUM_THREADS="4")
        self.assertEqual((done.returncode, done.stdout), (0, EXPECTED), done.stderr)
        found = re.search(
            r"loops announced before plain regions: (\d+)\n"
            r"  loops left to the standard interface: (\d+), of a later weftcc: (\d+)\n",
            done.stderr,
        )
        return tuple(map(int, found.groups())) if found else None, "regions that are one loop" in done.stderr

    def test_the_same_version(self):
        self.assertEqual(self.run_with_statistics(self.build_with("same", lambda *known: known)), ((3, 0, 0), True))

    def test_a_later_version(self):
        program = self.build_with("later", lambda version, flags: (version + 1, flags))
        self.assertEqual(self.run_with_statistics(program), ((3, 3, 6), False))

    def test_unknown_flags(self):
        program = self.build_with("flags", lambda version, flags: (version, flags | 1 << 20))
        self.assertEqual(self.run_with_statistics(program), ((3, 3, 6), False))

    def test_nothing_is_said_without_statistics(self):
        program = self.build_with("silent", lambda version, flags: (version + 1, flags))
        done = self.run_on_weft(program, OMP_NUM_THREADS="4")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, EXPECTED, ""))

    def test_what_asks_for_every_member_is_left_too(self):
        done = self.run_on_weft(
            self.build_with("ordered", lambda *known: known),
            WEFT_STATS="all",
            OMP_NUM_THREADS="4",
            WEFT_REPRODUCIBLE="true",
        )
        self.assertEqual(done.stdout, EXPECTED)
        self.assertIn("loops left to the standard interface: 3, of a later weftcc: 0", done.stderr)


if __name__ == "__main__":
    unittest.main()
