# SPDX-License-Identifier: Apache-2.0
"""One runtime in a process, whoever asks for which one and on which way; and a line where it is not so."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from command_test import CLANG, GCC, WEFT, CommandTest

LIBRARY = str(pathlib.Path(WEFT).resolve().parents[1] / "lib/weft/libgomp.so.1")
DRIVER = pathlib.Path(__file__).with_name("runtimes.c")

# Names under which runtimes are asked for, and whose they are: a copy in a wheel has a hash in its name.
NAMES = {
    "libgomp.so.1": "gomp",
    "libgomp-a34b3233.so.1.0.0": "gomp",
    "libomp.so.5": "omp",
    "libiomp5.so": "omp",
    "libiomp5-0b1c2d3e.so": "omp",
}
# What programs and libraries are linked with: the names and versions of a runtime, and nothing in them.
STUB = "void GOMP_parallel(void) {}\n"
VERSIONS = {"gomp": "GOMP_4.0 { GOMP_parallel; };", "omp": "VERSION { GOMP_parallel; };"}
PLUGIN = """
typedef void Parallel(void (*)(void *), void *, unsigned, unsigned);
extern Parallel GOMP_parallel;
Parallel *parallel_of_plugin(void) { return GOMP_parallel; }
"""
OPENS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
  for (int i = 2; i < count; i++) {
    if (!dlmopen(arguments[1][0] == 'n' ? LM_ID_NEWLM : LM_ID_BASE, arguments[i], RTLD_NOW)) return puts(dlerror()), 1;
  }
  return 0;
}
"""
FINDS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  if (!dlopen("libfound.so", RTLD_NOW)) return puts(dlerror()), 1;
  if (!dlmopen(LM_ID_NEWLM, "libfound.so", RTLD_NOW)) return puts(dlerror()), 1;
  return 0;
}
"""
INSIDE = """
int omp_get_num_threads(void) { return 1; }
void GOMP_parallel(void (*region)(void *), void *data, unsigned threads, unsigned flags) { region(data); }
int inside(void) { return omp_get_num_threads() - 1; }
"""
REGION = """
#include <stdio.h>
int region(void) {
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members++;
  return members;
}
"""


def file_of(whose):
    """A real runtime of this machine."""
    command = [GCC, "-print-file-name=libgomp.so.1"] if whose == "gomp" else [CLANG, "-print-file-name=libomp.so.5"]
    return pathlib.Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()).resolve()


class RuntimesTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.copies = cls.folder / "copies"
        cls.copies.mkdir()
        for name, whose in NAMES.items():
            shutil.copy(file_of(whose), cls.copies / name)
        cls.driver = cls.compile("driver", DRIVER, "-ldl", f"-Wl,-rpath,{cls.copies}")

    @classmethod
    def compile(cls, name, source, *flags, compiler=GCC):
        if not isinstance(source, pathlib.Path):
            text, source = source, cls.folder / f"{name}.c"
            source.write_text(text)
        out = cls.folder / name
        subprocess.run([compiler, "-O1", source, "-o", out, *map(str, flags)], check=True)
        return out

    @classmethod
    def stub(cls, soname):
        """To link with: what is linked asks for that name, and for a version of it."""
        whose = NAMES[os.path.basename(soname)]
        versions = cls.folder / f"{whose}.versions"
        versions.write_text(VERSIONS[whose])
        name = f"stub-{soname.replace('/', '_')}"
        flags = ("-shared", "-fPIC", f"-Wl,-soname,{soname}", f"-Wl,--version-script={versions}")
        return cls.compile(name, STUB, *flags)

    @classmethod
    def plugin(cls, name, soname):
        flags = ("-shared", "-fPIC", cls.stub(soname), f"-Wl,-rpath,{cls.copies}", "-Wl,--allow-shlib-undefined")
        return cls.compile(name, PLUGIN, *flags)


class OneRuntime(RuntimesTest):
    # The folder of another glibc (of libc6_VERSION_amd64.deb, say), whose dynamic linker is to run the programs.
    GLIBC = os.environ.get("WEFT_TEST_GLIBC")
    LINKER = (f"{GLIBC}/ld-linux-x86-64.so.2", "--library-path", GLIBC) if GLIBC else ()

    def orders(self, how, alone, ways, program=None):
        mode = "only" if alone else "first"
        done = self.weft("run", *how, *self.LINKER, program or self.driver, LIBRARY, mode, *ways)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def opened(self):
        for name in NAMES:
            yield from (f"o{name}", f"o{self.copies / name}")
        for name in ("libgomp.so.1", "libiomp5-0b1c2d3e.so"):
            yield from (f"q{name}", f"q{self.copies / name}", f"m{name}")

    def needing(self):
        """Libraries that need a runtime by a name, and by a path as some builds have it."""
        for number, name in enumerate(("libgomp-a34b3233.so.1.0.0", "libiomp5-0b1c2d3e.so")):
            yield f"p{self.plugin(f'libby_name{number}.so', name)}"
            yield f"p{self.plugin(f'libby_path{number}.so', str(self.copies / name))}"

    def test_every_order(self):
        self.orders([], True, [*self.opened(), *self.needing()])

    def test_every_order_when_preloaded(self):
        self.orders(["--preload"], True, [*self.opened(), *(f"m{self.copies / name}" for name in NAMES)])
        self.orders(["--preload"], False, [*self.needing(), f"o{self.copies / 'libomp.so.5'}", "olibiomp5.so"])

    def test_linked(self):
        few = [f"o{self.copies / 'libomp.so.5'}", "qlibomp.so.5", "olibgomp.so.1", *self.needing()]
        for soname in (*NAMES, str(self.copies / "libgomp-a34b3233.so.1.0.0")):
            with self.subTest(soname=soname):
                flags = ("-DLINKED", self.stub(soname), "-ldl", f"-Wl,-rpath,{self.copies}")
                program = self.compile("linked", DRIVER, *flags)
                self.orders([], True, few, program)
                self.orders(["--preload"], False, few, program)

    def test_folders_of_the_caller_are_searched(self):
        """By what stands before libc's functions, too."""
        folder = self.folder / "sub"
        folder.mkdir()
        self.compile("sub/libfound.so", "int found;", "-shared", "-fPIC")
        flags = ("-ldl", "-Wl,--enable-new-dtags", f"-Wl,-rpath,{folder}")
        program = self.compile("finds", FINDS, *flags)
        for how in (), ("--preload",):
            done = self.weft("run", *how, program)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Told(RuntimesTest):
    """Where another runtime is mapped all the same."""

    def lines(self, *arguments, **more):
        done = self.weft("run", *arguments, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr.splitlines()

    def test_dlmopen_with_a_path(self):
        program = self.compile("opens", OPENS, "-ldl")
        other = str(self.copies / "libomp.so.5")
        [line] = self.lines(program, "base", other)
        self.assertRegex(line, rf"^weft: {re.escape(other)} is mapped beside weft: .*dlmopen")
        told = self.lines("--stats=all", program, "base", other)
        self.assertEqual(told[0], line)
        self.assertRegex(told[1], r"^weft statistics: \S+ \(process \d+\)$")
        self.assertIn("nothing ran on weft", told[2])
        self.assertEqual(told[3].strip(), line.removeprefix("weft: "))
        # With weft there too.
        told = self.lines("--stats=all", program, "base", other, "libgomp.so.1")
        self.assertTrue(any("regions by level" in line for line in told), told)
        self.assertTrue(any(line.startswith("  ") and other in line for line in told), told)

    def test_other_namespaces(self):
        program = self.compile("opens", OPENS, "-ldl")
        [line] = self.lines(program, "new", "libgomp.so.1")
        self.assertRegex(line, r"^weft: .* is mapped a second time")
        [line] = self.lines(program, "new", self.copies / "libgomp.so.1")
        self.assertRegex(line, r"^weft: .*/copies/libgomp\.so\.1 is mapped beside weft, in a link namespace")

    def test_runtimes_inside(self):
        """A library that has one under no name that is known."""
        self.compile("libinside.so", INSIDE, "-shared", "-fPIC")
        flags = (self.folder / "libinside.so", f"-Wl,-rpath,{self.folder}")
        program = self.compile("outside", "extern int inside(void); int main(void) { return inside(); }", *flags)
        [line] = self.lines(program)
        self.assertRegex(line, rf"^weft: {self.folder}/libinside\.so has an OpenMP runtime inside")

    def test_what_a_script_starts(self):
        archive = subprocess.run([GCC, "-print-file-name=libgomp.a"], capture_output=True, text=True, check=True)
        source = REGION + "int main(void) { return region() != 3; }"
        self.compile("own.o", source, "-fopenmp", "-c")
        program = self.folder / "own"
        subprocess.run([GCC, self.folder / "own.o", archive.stdout.strip(), "-lpthread", "-o", program], check=True)
        for more in (), ("--preload",):
            [line] = self.lines(*more, program)
            self.assertRegex(line, rf"^weft: {program} has an OpenMP runtime inside \(libgomp\.a\)")
        [line] = self.lines("sh", "-c", f"{program}; true")
        self.assertRegex(line, rf"^weft: {program} has an OpenMP runtime inside \(libgomp\.a\)")

    def test_mpi_inside(self):
        program = self.compile("own_mpi", "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }")
        for option in "--mpi", "--collectives":
            [line] = self.lines(option, program)
            self.assertEqual(
                line,
                f"weft: {program} has an MPI inside: --mpi and --collectives do nothing; link it with the shared one",
            )
        self.assertEqual(self.lines(program), [])

    def test_loaded_for_nothing(self):
        program = self.compile("idle", "int main(void) { return 0; }", "-fopenmp", "-Wl,--no-as-needed", "-lgomp")
        heading, regions, line = self.lines("--stats=all", program)[:3]
        self.assertRegex(heading, r"^weft statistics: idle \(process \d+\)$")
        self.assertEqual(regions, "  regions by level: 0")
        self.assertIn("nothing ran on weft: it was loaded, and no parallel region has run", line)

    def test_nothing_asked_for(self):
        [heading, line] = self.lines("--stats=all", "true")
        self.assertRegex(heading, r"^weft statistics: true \(process \d+\)$")
        self.assertIn("nothing ran on weft: no part of the program has asked for an OpenMP runtime", line)
        # What such a program starts says nothing.
        self.assertEqual(len(self.lines("--stats=all", "env", "sh", "-c", "/bin/true; exec /bin/true")), 2)
        self.assertEqual(self.lines("true"), [])


if __name__ == "__main__":
    unittest.main()
