# SPDX-License-Identifier: Apache-2.0
"""Programs that weftcc, weftc++ and weftfort build run on weft: in C, C++ and Fortran, by clang, flang and gcc, by hand and by
build systems."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from finished import finished
from support import CLANG, DRIVER, GCC, LIBRARIES, TIMEOUT_S, clean_environment

C = r"""
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  printf("%d\n", members);
  return 0;
}
"""
CXX = r"""
#include <iostream>
int main() {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  std::cout << members << std::endl;
}
"""
FORTRAN = r"""
program p
  integer :: members
  members = 0
!$omp parallel num_threads(4) reduction(+ : members)
  members = members + 1
!$omp end parallel
  print '(i0)', members
end program
"""
# Each language: its driver, the ending of a source, the source, LLVM's compiler, gcc's.
LANGUAGES = (
    ("weftcc", "c", C, CLANG, GCC),
    ("weftc++", "cpp", CXX, "clang++-19", "g++"),
    ("weftfort", "f90", FORTRAN, "flang-new-19", "gfortran"),
)
CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(consumer C CXX)
find_package(OpenMP REQUIRED)
add_executable(c a.c)
target_link_libraries(c PRIVATE OpenMP::OpenMP_C)
add_executable(cxx a.cpp)
target_link_libraries(cxx PRIVATE OpenMP::OpenMP_CXX)
"""
MESON = """
project('consumer', 'c', 'cpp')
openmp = dependency('openmp')
executable('c', 'a.c', dependencies: openmp)
executable('cxx', 'a.cpp', dependencies: openmp)
"""
# What configure scripts of autoconf do about OpenMP, in short.
CONFIGURE = r"""
set -e
printf 'int main(void) { return 0; }\n' > conftest.c
$CC $CFLAGS -o conftest conftest.c && ./conftest
$CC -E conftest.c > conftest.i 2> conftest.err
test ! -s conftest.err
printf '#ifndef _OPENMP\n#error "OpenMP not supported"\n#endif\n#include <omp.h>\nint main(void) { return omp_get_num_threads() != 1; }\n' > conftest.c
found=none
for option in '' -xopenmp -qopenmp -fopenmp; do
  rm -f conftest
  if $CC $CFLAGS $option -o conftest conftest.c 2>/dev/null && ./conftest; then found=$option; break; fi
done
$CC $CFLAGS $found -c a.c -o a.o
$CC $found -o a a.o
echo "$found"
"""


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weftcc-programs-"))).resolve()
        for _, ending, source, _, _ in LANGUAGES:
            (self.folder / f"a.{ending}").write_text(source)
        self.environment = clean_environment(WEFTCC_LOWER="none", WEFT_CC=CLANG)

    def driver(self, name):
        return str(DRIVER.parent / name)

    def execute(self, *words, check=True, **environment):
        done = finished(words, env=self.environment | environment, cwd=self.folder, timeout=TIMEOUT_S)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def runs_on_weft(self, program):
        done = self.execute(self.folder / program, WEFT_STATS="all")
        self.assertEqual(done.stdout, "4\n")
        self.assertIn("weft statistics", done.stderr)
        self.assertIn("regions by level: 1", done.stderr)

    def languages(self):
        """Those whose compilers are there: the driver, the source, the compiler, and the variable that names it."""
        for name, ending, _, llvm, gcc in LANGUAGES:
            variable = {"weftcc": "WEFT_CC", "weftc++": "WEFT_CXX", "weftfort": "WEFT_FC"}[name]
            for compiler in (llvm, gcc):
                if shutil.which(compiler):
                    with self.subTest(name=name, compiler=compiler):
                        yield self.driver(name), f"a.{ending}", {variable: compiler}


class ByHand(ProgramsTest):
    def test_in_one_step(self):
        for driver, source, compiler in self.languages():
            done = self.execute(driver, "-O1", "-fopenmp", source, "-o", "a", **compiler)
            self.assertEqual(done.stderr, "")
            self.runs_on_weft("a")

    def test_in_two_steps(self):
        for driver, source, compiler in self.languages():
            done = self.execute(driver, "-c", "-fopenmp", source, "-o", "a.o", **compiler)
            self.assertEqual(done.stderr, "")
            (self.folder / "link.rsp").write_text("a.o -o a -fopenmp")
            done = self.execute(driver, "@link.rsp", **compiler)
            self.assertEqual(done.stderr, "")
            self.runs_on_weft("a")

    def test_shared_libraries(self):
        (self.folder / "library.c").write_text(C.replace("main", "region"))
        (self.folder / "program.c").write_text("int region(void);\nint main(void) { return region(); }\n")
        for compiler in (CLANG, GCC):
            self.execute(
                self.driver("weftcc"), "-fopenmp", "-shared", "-fPIC", "library.c", "-o", "liba.so", WEFT_CC=compiler
            )
            self.execute(compiler, "program.c", "-o", "a", "./liba.so")
            self.runs_on_weft("a")

    def test_defaults_and_the_environment(self):
        for driver, source, compiler in self.languages():
            self.execute(
                driver,
                "-fopenmp",
                source,
                "-o",
                "a",
                "--weft-os-threads=3",
                "--weft-max-threads=77",
                "--weft-set=OMP_DISPLAY_ENV=verbose",
                **compiler,
            )
            said = self.execute(self.folder / "a").stderr
            self.assertIn("WEFT_NUM_CPUS = '3'", said)
            self.assertIn("OMP_THREAD_LIMIT = '77'", said)
            said = self.execute(self.folder / "a", WEFT_NUM_CPUS="2").stderr
            self.assertIn("WEFT_NUM_CPUS = '2'", said)
            self.assertIn("OMP_THREAD_LIMIT = '77'", said)
            self.assertEqual(self.execute(self.folder / "a", OMP_DISPLAY_ENV="false").stderr, "")

    def test_defaults_of_loops(self):
        self.execute(
            self.driver("weftcc"),
            "-fopenmp",
            "a.c",
            "-o",
            "a",
            "--weft-region-threads=3",
            "--weft-balance=steal",
            "--weft-grain=5us",
            "--weft-numa=spread",
            "--weft-set=OMP_DISPLAY_ENV=verbose",
        )
        done = self.execute(self.folder / "a")
        self.assertEqual(done.stdout, "3\n")
        for setting in (
            "WEFT_REGION_THREADS = '3'",
            "WEFT_BALANCE = 'steal'",
            "WEFT_GRAIN = '5us'",
            "WEFT_NUMA = 'spread'",
            "OMP_PROC_BIND = 'SPREAD'",
        ):
            self.assertIn(setting, done.stderr)
        done = self.execute(
            self.folder / "a", WEFT_REGION_THREADS="2", WEFT_BALANCE="auto", WEFT_GRAIN="9", WEFT_NUMA="none"
        )
        self.assertEqual(done.stdout, "2\n")
        for setting in (
            "WEFT_REGION_THREADS = '2'",
            "WEFT_BALANCE = 'auto'",
            "WEFT_GRAIN = '9'",
            "WEFT_NUMA = 'none'",
            "OMP_PROC_BIND = 'FALSE'",
        ):
            self.assertIn(setting, done.stderr)

    def test_defaults_go_with_link_time_optimization_and_unused_sections(self):
        self.execute(
            self.driver("weftcc"),
            "-O2",
            "-flto",
            "-ffunction-sections",
            "-fdata-sections",
            "-Wl,--gc-sections",
            "-fopenmp",
            "a.c",
            "-o",
            "a",
            "--weft-set=WEFT_STATS=all",
            WEFT_CC=GCC,
        )
        self.assertIn("weft statistics", self.execute(self.folder / "a").stderr)

    def test_messages_of_the_compiler(self):
        (self.folder / "wrong.c").write_text("int main(void) { return x; }\n")
        for words in (
            ["-fopenmp", "wrong.c"],
            ["-fopenmp", "missing.c"],
            ["-fopenmp"],
            ["-fopenmp", "a.c", "-no-such-option"],
        ):
            for compiler in (CLANG, GCC):
                wanted = self.execute(
                    compiler,
                    *words,
                    "-fno-color-diagnostics" if compiler == CLANG else "-fdiagnostics-color=never",
                    check=False,
                )
                done = self.execute(
                    self.driver("weftcc"),
                    *words,
                    "-fno-color-diagnostics" if compiler == CLANG else "-fdiagnostics-color=never",
                    check=False,
                    WEFT_CC=compiler,
                )
                with self.subTest(words=words, compiler=compiler):
                    self.assertNotEqual(done.returncode, 0)
                    self.assertEqual(
                        (done.returncode, done.stdout, done.stderr), (wanted.returncode, wanted.stdout, wanted.stderr)
                    )

    def test_report_by_the_pass(self):
        """With lines, though there is no -g; those of flang are lines of the subprogram."""
        if not (LIBRARIES / "libweft-pass.so").exists():
            self.skipTest("the pass is wanted")
        (self.folder / "loop.c").write_text(
            "void f(double *a, int n) {\n#pragma omp parallel for\n  for (int i = 0; i < n; i++) a[i]++;\n}\n"
        )
        (self.folder / "loop.f90").write_text(
            "subroutine f(a, n)\ninteger :: i, n\nreal :: a(n)\n!$omp parallel do\ndo i = 1, n\na(i) = i\nend do\nend\n"
        )
        for name, source, place in (("weftcc", "loop.c", "loop.c:2: "), ("weftfort", "loop.f90", "loop.f90:")):
            if name == "weftfort" and not shutil.which("flang-new-19"):
                continue
            done = self.execute(
                self.driver(name),
                "-O2",
                "-fopenmp",
                "-c",
                source,
                "-o",
                "loop.o",
                "--weft-report",
                WEFTCC_LOWER="range",
            )
            self.assertIn("1 construct: 1 range", done.stderr)
            self.assertIn(place, done.stderr)
            self.assertIn(": parallel for: range", done.stderr)
            self.assertNotIn(":0: ", done.stderr)
            self.assertNotIn(".debug_info", self.execute("readelf", "-SW", "loop.o").stdout)

    def test_more_words_than_a_command_can_hold(self):
        (self.folder / "many.rsp").write_text(" ".join(f"-DA{i}" for i in range(300_000)) + " -fopenmp -c a.c -o a.o")
        self.execute(self.driver("weftcc"), "@many.rsp")

    def test_pass_that_cannot_be_loaded_is_the_compilers_message(self):
        """A folder of libraries of one's own, with a pass that is none."""
        prefix = self.folder / "prefix"
        (prefix / "bin").mkdir(parents=True)
        shutil.copytree(LIBRARIES, prefix / "lib/weft", symlinks=True)
        (prefix / "lib/weft/libweft-pass.so").write_text("no library")
        shutil.copy2(DRIVER, prefix / "bin/weftcc")
        done = self.execute(prefix / "bin/weftcc", "-fopenmp", "-c", "a.c", check=False, WEFTCC_LOWER="range")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libweft-pass.so", done.stderr)


class ByBuildSystems(ProgramsTest):
    def test_cmake(self):
        (self.folder / "CMakeLists.txt").write_text(CMAKE)
        for compilers in {"WEFT_CC": CLANG}, {"WEFT_CC": GCC, "WEFT_CXX": "g++"}:
            shutil.rmtree(self.folder / "build", ignore_errors=True)
            self.execute(
                "cmake",
                "-S",
                ".",
                "-B",
                "build",
                f"-DCMAKE_C_COMPILER={self.driver('weftcc')}",
                f"-DCMAKE_CXX_COMPILER={self.driver('weftc++')}",
                **compilers,
            )
            self.execute("cmake", "--build", "build", **compilers)
            for program in ("c", "cxx"):
                self.runs_on_weft(f"build/{program}")

    def test_configure(self):
        (self.folder / "configure").write_text(CONFIGURE)
        for compiler in (CLANG, GCC):
            done = self.execute("sh", "./configure", CC=self.driver("weftcc"), CFLAGS="-O1", WEFT_CC=compiler)
            self.assertIn("openmp", done.stdout)
            self.runs_on_weft("a")

    def test_meson(self):
        if not shutil.which("meson") or not shutil.which("ninja"):
            self.skipTest("meson and ninja are wanted")
        (self.folder / "meson.build").write_text(MESON)
        compilers = {"CC": self.driver("weftcc"), "CXX": self.driver("weftc++")}
        self.execute("meson", "setup", "build", **compilers)
        self.execute("meson", "compile", "-C", "build", **compilers)
        for program in ("c", "cxx"):
            self.runs_on_weft(f"build/{program}")

    def test_make(self):
        (self.folder / "Makefile").write_text("a: a.o\n\t$(CC) $(CFLAGS) $^ -o $@\n")
        self.execute("make", f"CC={self.driver('weftcc')}", "CFLAGS=-O1 -fopenmp")
        self.runs_on_weft("a")

    def test_ccache(self):
        if not shutil.which("ccache"):
            self.skipTest("ccache is wanted")
        cache = {"CCACHE_DIR": str(self.folder / "cache"), "CCACHE_EXTRAFILES": str(LIBRARIES / "libgomp.so.1")}
        lower = "--weft-lower=none"
        for _ in range(2):
            (self.folder / "a.o").unlink(missing_ok=True)
            self.execute("ccache", self.driver("weftcc"), "-fopenmp", lower, "-c", "a.c", "-o", "a.o", **cache)
        self.assertIn("direct_cache_hit\t1", self.execute("ccache", "--print-stats", **cache).stdout)
        self.execute(self.driver("weftcc"), "-fopenmp", "a.o", "-o", "a")
        self.runs_on_weft("a")

    def test_mpi(self):
        compiler = {"OMPI_CC": GCC, "MPICH_CC": GCC}
        if (
            not shutil.which("mpicc")
            or self.execute("mpicc", "a.c", "-o", "a", check=False, **compiler).returncode != 0
        ):
            self.skipTest("mpicc and its libraries are wanted")
        self.execute(
            "mpicc", "-fopenmp", "a.c", "-o", "a", OMPI_CC=self.driver("weftcc"), MPICH_CC=self.driver("weftcc")
        )
        self.runs_on_weft("a")


class AsAWheelHasIt(ProgramsTest):
    def test_programs(self):
        """There are no links in a wheel."""
        self.execute(
            "cmake",
            "--install",
            os.environ["WEFT_BUILD_DIR"],
            "--component",
            "python",
            "--prefix",
            self.folder / "tree",
        )
        for driver, source, compiler in self.languages():
            self.execute(
                self.folder / "tree/bin" / pathlib.Path(driver).name, "-fopenmp", source, "-o", "a", **compiler
            )
            self.runs_on_weft("a")


class Installed(ProgramsTest):
    def test_programs(self):
        self.execute("cmake", "--install", os.environ["WEFT_BUILD_DIR"], "--prefix", self.folder / "prefix")
        (self.folder / "a.c").write_text("#include <weft/weft.h>\n" + C)
        for name, ending, _, _, _ in LANGUAGES[:2]:
            done = self.execute(self.folder / "prefix/bin" / name, "-fopenmp", f"a.{ending}", "-o", "a")
            self.assertEqual(done.stderr, "")
            self.runs_on_weft("a")


if __name__ == "__main__":
    sys.exit(unittest.main())
