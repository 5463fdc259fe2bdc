#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which copies of OpenBLAS are taken over when they are opened: of which versions, how many, how often. They are
libraries that show what weft knows it by (unknown_waits.c)."""

import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import unittest

from finished import finished

COMMAND = os.environ["WEFT_COMMAND"]
GCC = os.environ["WEFT_TEST_GCC"]
HERE = pathlib.Path(__file__).parent

# Opens and closes the first library so many times, and then opens all of them: for each, whether it has a callback.
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int code_of_no_file(void) {
  char line[1024];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) count += strstr(line, "r-xp 00000000 00:00 0 \\n") != NULL;
  fclose(maps);
  return count;
}

int main(int count, char** arguments) {
  for (int i = atoi(arguments[1]); i > 0; i--) dlclose(dlopen(arguments[2], RTLD_NOW));
  const int before = code_of_no_file();
  for (int i = 2; i < count; i++) {
    void* library = dlopen(arguments[i], RTLD_NOW);
    void** callback = dlsym(library, "openblas_threads_callback_");
    printf("%d", *callback != NULL);
  }
  if (before > 1) printf(", %d pages are left", before);
  return 0;
}
"""


@unittest.skipUnless(platform.machine() == "x86_64", "the library has loops of x86-64")
class Copies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weft-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "program.c").write_text(PROGRAM)
        subprocess.run([GCC, cls.folder / "program.c", "-o", cls.folder / "program", "-ldl"], check=True)

    def build(self, version):
        library = self.folder / f"libopenblas-{version}.so"
        loops = "-DBEFORE=0 -DPRODUCTS=4 -DLAST_PRODUCT=4 -DDRIVERS=5 -DLAST_DRIVER=5".split()
        sources = [HERE / "wait_loops_library.cpp", HERE / "unknown_waits.c"]
        command = [GCC, "-O2", "-fPIC", "-shared", f'-DVERSION="{version}"', *loops, *sources, "-o", library]
        subprocess.run(command, check=True)
        return library

    def opened(self, libraries, times=0):
        """(what the program says, stderr)"""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_"))}
        done = finished([COMMAND, "run", "--", self.folder / "program", str(times), *libraries], env=kept, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_of_known_versions(self):
        for version, taken in (
            ("", "1"),  # that it has the names of 0.3.29 has to do
            ("0.3.28", "0"),
            ("0.3.29", "1"),
            ("0.3.31.188.0", "1"),
            ("0.3.34.dev", "1"),
            ("0.3.35", "0"),
            ("0.3.35.dev", "0"),
            ("0.4.0", "0"),
            ("1.0.0", "0"),
        ):
            with self.subTest(version=version):
                self.assertEqual(self.opened([self.build(version)]), (taken, ""))

    def test_however_often_one_is_opened(self):
        self.assertEqual(self.opened([self.build("0.3.30")], times=100), ("1", ""))

    def test_as_many_as_there_is_room_for(self):
        library = self.build("0.3.29")
        files = [self.folder / f"libcopy{i}.so" for i in range(35)]
        for file in files:
            shutil.copy(library, file)
        said = "weft: more than 32 copies of OpenBLAS in this process; further ones run on threads of their own\n"
        self.assertEqual(self.opened(files), ("1" * 32 + "0" * 3, said))


if __name__ == "__main__":
    unittest.main()
