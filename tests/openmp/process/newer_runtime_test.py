# SPDX-License-Identifier: Apache-2.0
"""Libraries that need versions of libgomp which weft lacks, as compilers of later years will make them. A program that starts
with one keeps its own runtime; one that comes later, or stands behind weft, does without what weft lacks."""

import re
import shutil
import subprocess
import unittest

from support import GCC, RUNTIME, ProcessTest

NEWER = """
#include <stdio.h>
void GOMP_later(void) { puts("later"); }
void GOMP_barrier(void) {}
"""
VERSIONS = "GOMP_1.0 { global: GOMP_barrier; };\nGOMP_9.0 { global: GOMP_later; } GOMP_1.0;\n"
LIBRARY = """
void GOMP_later(void);
void GOMP_barrier(void);
void part(int all) { GOMP_barrier(); if (all) GOMP_later(); }
"""
LINKED = r"""
#include <stdio.h>
void part(int all);
int main(int count, char **arguments) {
  part(count > 1);
  puts("done");
  return 0;
}
"""
REGION = r"""
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members++;
  printf("%d\n", members);
  fflush(stdout);
"""
OPENED = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments) {
#ifdef BEFORE
  BEFORE
#endif
  void *library = dlopen(arguments[1], arguments[2][0] == 'n' ? RTLD_NOW : RTLD_LAZY);
  if (!library) return puts(dlerror()), 1;
  ((void (*)(int))dlsym(library, "part"))(atoi(arguments[3]));
  puts("done");
  return 0;
}
""".replace("  BEFORE\n", REGION)
LACKS = "needs functions of a newer runtime that weft lacks, and fails where it calls them: GOMP_9.0"


class NewerRuntime(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.newer = cls.folder / "newer"
        cls.newer.mkdir()
        (cls.folder / "versions").write_text(VERSIONS)
        library = cls.shared("libgomp.so.1", NEWER, f"-Wl,--version-script={cls.folder}/versions")
        library = shutil.move(library, cls.newer / "libgomp.so.1")
        cls.part = cls.shared("libpart.so", LIBRARY, library)
        cls.outer = cls.shared("libouter.so", "void part(int); void outer(int all) { part(all); }", cls.part)

    @classmethod
    def shared(cls, name, source, *others):
        file = cls.folder / f"{name}.c"
        file.write_text(source)
        output = cls.folder / name
        flags = ["-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,-z,lazy", f"-Wl,-rpath,{cls.folder}"]
        subprocess.run([GCC, *flags, str(file), *map(str, others), "-o", str(output)], check=True)
        return output

    def linked(self, name, *flags):
        return self.build(name, LINKED, *map(str, flags), f"-Wl,-rpath,{self.folder}", "-Wl,--allow-shlib-undefined")

    def run_audited(self, *command):
        """As `weft run` does it, with the newer runtime as the system's own."""
        audit = {"LD_AUDIT": str(RUNTIME / "libweft-audit.so"), "WEFT_LIBRARY": str(RUNTIME / "libgomp.so.1")}
        return self.run_on_weft(*command, LD_LIBRARY_PATH=str(self.newer), **audit)

    def expect(self, done, code, text, *told):
        self.assertEqual((done.returncode, done.stdout), (code, text), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), len(told), done.stderr)
        for line, pattern in zip(done.stderr.splitlines(), told):
            self.assertRegex(line, pattern)

    def test_a_library_that_the_program_starts_with(self):
        """Whatever else comes later has the program's own runtime too."""
        kept = (
            rf"\Aweft: WEFT_LIBRARY=.* lacks GOMP_9\.0 of libgomp\.so\.1, which .*{re.escape(self.part.name)} needs; "
        )
        kept += "the program runs on its own OpenMP runtime"
        for name, flags in {
            "direct": [self.part, "-fno-openmp"],
            "through": [self.outer, self.part, "-fno-openmp"],
        }.items():
            with self.subTest(name=name):
                self.expect(self.run_audited(self.linked(name, *flags), "all"), 0, "later\ndone\n", kept)

    def test_a_runtime_that_is_needed_by_its_path(self):
        """As the program names it; its library names it alone, and would find another one."""
        folder = self.folder / "by_path"
        folder.mkdir()
        runtime = folder / "libgomp.so.1"
        # A file without a name of its own is named by its path where a program is linked with it.
        source = self.folder / "nameless.c"
        source.write_text(NEWER)
        subprocess.run([GCC, "-shared", "-fPIC", source, "-o", runtime], check=True)
        program = self.linked("names_path", "-fno-openmp", "-Wl,--no-as-needed", self.part, runtime)
        shutil.copy(self.newer / "libgomp.so.1", runtime)
        audit = {"LD_AUDIT": str(RUNTIME / "libweft-audit.so"), "WEFT_LIBRARY": str(RUNTIME / "libgomp.so.1")}
        done = self.run_on_weft(program, "all", LD_LIBRARY_PATH="", **audit)
        self.expect(done, 0, "later\ndone\n", r"lacks GOMP_9\.0")

    def test_the_program_itself(self):
        program = self.build("itself", LIBRARY + LINKED, "-fno-openmp", str(self.newer / "libgomp.so.1"))
        self.expect(self.run_audited(program, "all"), 0, "later\ndone\n", "which the program needs; ")

    def test_a_library_that_is_opened(self):
        """Before weft is there it brings its own runtime along. Behind weft it has what weft has."""
        alone = self.build("alone", OPENED, "-fno-openmp")
        self.expect(self.run_audited(alone, self.part, "now", "1"), 0, "later\ndone\n", r"lacks GOMP_9\.0")
        behind = self.build("behind", OPENED, "-DBEFORE")
        self.expect(self.run_audited(behind, self.part, "lazily", "0"), 0, "3\ndone\n", LACKS)
        # As dlopen tells it: the name, and the version.
        done = self.run_audited(behind, self.part, "now", "1")
        self.expect(done, 1, f"3\n{self.part}: undefined symbol: GOMP_later, version GOMP_9.0\n", LACKS)


if __name__ == "__main__":
    unittest.main()
