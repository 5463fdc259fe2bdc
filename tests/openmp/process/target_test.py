# SPDX-License-Identifier: Apache-2.0
"""OMP_TARGET_OFFLOAD and OMP_DEFAULT_DEVICE: what ends a program, with one clear line, and what runs on the host."""

import unittest

from support import ProcessTest

PROGRAM = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int ran = 0, device = argc > 2 ? atoi(argv[2]) : 0;
  switch (argv[1][0]) {
  case 'd':  // the default device
#pragma omp target map(tofrom : ran)
    ran = 1;
    break;
  case 'n':  // one by number
#pragma omp target map(tofrom : ran) device(device)
    ran = 1;
    break;
  case 'i':
#pragma omp target map(tofrom : ran) if (0)
    ran = 1;
    break;
  case 'u': {
#pragma omp target update to(ran)
    ran = 1;
    break;
  }
  case 'm':
    ran = omp_target_alloc(8, device) != NULL;
    break;
  case 's':
    omp_set_default_device(device);
#pragma omp target map(tofrom : ran)
    ran = 1;
    break;
  }
  printf("%d %d\\n", ran, omp_get_default_device());
  return 0;
}
"""


class Target(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.build("target", PROGRAM)

    def check_runs(self, *arguments, device=0, ran=1, **variables):
        done = self.run_on_weft(self.program, *arguments, **variables)
        self.assertEqual(
            (done.returncode, done.stderr, done.stdout), (0, "", f"{ran} {device}\n"), (arguments, variables)
        )

    def check_ends(self, *arguments, words=(), **variables):
        done = self.run_on_weft(self.program, *arguments, **variables)
        self.assertEqual((done.returncode, done.stdout), (1, ""), (arguments, variables, done.stderr))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in ("weft: ", *words):
            self.assertIn(word, done.stderr)

    def test_default(self):
        for variables in ({}, {"OMP_TARGET_OFFLOAD": "default"}, {"OMP_TARGET_OFFLOAD": "DISABLED"}):
            for arguments in ("d", "n 0", "i", "u", "m 0", "s 0", "n 7"):
                self.check_runs(*arguments.split(), **variables)
            self.check_runs("m", "7", ran=0, **variables)
            self.check_runs("s", "7", device=7, **variables)

    def test_mandatory(self):
        words = ("OMP_TARGET_OFFLOAD=mandatory", "OMP_DEFAULT_DEVICE=0")
        for arguments in ("d", "n 1", "u", "m 1", "s 3"):
            self.check_ends(*arguments.split(), words=words, OMP_TARGET_OFFLOAD="mandatory")
        for arguments in ("n 0", "i", "m 0"):
            self.check_runs(*arguments.split(), device=-4, OMP_TARGET_OFFLOAD="mandatory")
        self.check_runs("s", "0", OMP_TARGET_OFFLOAD="mandatory")
        self.check_runs("d", OMP_TARGET_OFFLOAD="mandatory", OMP_DEFAULT_DEVICE="0")

    def test_default_device(self):
        self.check_runs("d", device=4, OMP_DEFAULT_DEVICE="4")
        self.check_ends("n", "-4", words=("omp_invalid_device",))


if __name__ == "__main__":
    unittest.main()
