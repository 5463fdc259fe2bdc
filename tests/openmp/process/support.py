# SPDX-License-Identifier: Apache-2.0
"""What the tests of whole processes share: building small programs and running them on weft."""

import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from finished import finished

RUNTIME = pathlib.Path(os.environ["WEFT_TEST_RUNTIME"]).resolve()  # the directory of weft's libgomp.so.1
GCC = os.environ.get("WEFT_TEST_GCC", "gcc")
CLANG = os.environ.get("WEFT_TEST_CLANG", "clang-19")
TIMEOUT_S = 60

COUNT = """
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  members++;
  printf("%d\\n", members);
  return 0;
}
"""


class ProcessTest(unittest.TestCase):
    """A folder of its own, and a program that prints how many members its region had."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-test-")))
        cls.folder.chmod(0o755)
        cls.count = cls.build("count", COUNT)

    @classmethod
    def build(cls, name, source, *flags, compiler=GCC):
        name = name.replace("/", "_")
        file = cls.folder / (name + (".cpp" if "++" in compiler else ".c"))
        file.write_text(source)
        output = cls.folder / name
        command = [compiler, "-O1", "-g", "-fopenmp", "-pthread", str(file), "-o", str(output), *flags]
        subprocess.run(command, check=True, timeout=TIMEOUT_S)
        return output

    def run_on_weft(self, *command, limits=None, **variables):
        """The finished process. `limits`: {resource: bytes or number}. A hang fails the test."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "WEFT_"))
        }
        environment["LD_LIBRARY_PATH"] = str(RUNTIME)
        environment.update(variables)

        def apply_limits():
            for which, value in (limits or {}).items():
                resource.setrlimit(which, (value, value))

        return finished(command, env=environment, timeout=TIMEOUT_S, preexec_fn=apply_limits)
