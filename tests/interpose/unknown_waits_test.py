#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library whose jobs wait in a loop that weft does not know: the first call shows it, and others do not pay for it."""

import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

from finished import finished

COMMAND = os.environ["WEFT_COMMAND"]
GCC = os.environ["WEFT_TEST_GCC"]
HERE = pathlib.Path(__file__).parent

PROGRAM = """
#include <stdio.h>
#include <time.h>
int call(void);
int main(void) {
  for (int i = 0; i < 6; i++) {
    if (call() != 6) return 1;
  }
  printf("%.2f\\n", (double)clock() / CLOCKS_PER_SEC);
  return 0;
}
"""


@unittest.skipUnless(platform.machine() == "x86_64", "waits are seen on x86-64 only")
class UnknownWaits(unittest.TestCase):
    def test_are_found_out_once(self):
        with tempfile.TemporaryDirectory(prefix="weft-test-") as folder:
            build = f"-O1 -fPIC -Wl,-rpath,{folder} -L{folder}".split()
            loops = "-DBEFORE=0 -DPRODUCTS=4 -DLAST_PRODUCT=4 -DDRIVERS=5 -DLAST_DRIVER=5".split()
            pathlib.Path(folder, "program.c").write_text(PROGRAM)
            subprocess.run(
                [
                    GCC,
                    *build,
                    *loops,
                    "-shared",
                    HERE / "wait_loops_library.cpp",
                    HERE / "unknown_waits.c",
                    "-o",
                    f"{folder}/libunknown.so",
                ],
                check=True,
            )
            subprocess.run([GCC, *build, f"{folder}/program.c", "-lunknown", "-o", f"{folder}/program"], check=True)
            kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_"))}
            for setting, messages in (("", 1), ("true", 0)):
                with self.subTest(reproducible=setting):
                    done = finished(
                        [COMMAND, "run", f"{folder}/program"],
                        timeout=120,
                        env=kept | {"WEFT_NUM_CPUS": "1"} | ({"WEFT_REPRODUCIBLE": setting} if setting else {}),
                    )
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stderr.count("WEFT_REPRODUCIBLE"), messages, done.stderr)
                    # A second of CPU time for the call that is helped; the others wait for each other at once.
                    used = float(done.stdout)
                    self.assertGreater(used, 0.9)
                    self.assertLess(used, 3)


if __name__ == "__main__":
    unittest.main()
