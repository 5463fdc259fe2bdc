# SPDX-License-Identifier: Apache-2.0
"""Programs that weftcc builds with sanitizers, with link-time optimization, and as position-independent code.

Right programs run on weft, in silence. An error that is put into a lowered loop is told by the sanitizer. WEFT_DRIVER_DIR
holds the drivers, WEFT_LIBRARIES the runtime and the pass."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from finished import finished

HERE = pathlib.Path(__file__).resolve().parent
DRIVERS = pathlib.Path(os.environ["WEFT_DRIVER_DIR"])
WEFT = pathlib.Path(os.environ["WEFT_LIBRARIES"])
# They exit with an error when an iteration is lost or done twice.
PROGRAMS = (HERE / "pass/programs/c_loops.c", HERE / "pass/programs/cxx_loops.cpp")
CLANG = os.environ.get("WEFT_TEST_CLANG", "clang-19")
# The linker's, for -flto; clang names it with its folder where it is there.
PLUGIN = subprocess.run(
    [CLANG, "-print-file-name=LLVMgold.so"], capture_output=True, text=True, check=True
).stdout.strip()

WRONG = """
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
int most = 2147483647, value, sink;
atomic_int arrived;
int main(int argc, char **argv) {
  int n = 100, *heap = malloc(100 * sizeof(int));
  if (strcmp(argv[1], "address") == 0) {
#pragma omp parallel for
    for (int i = 0; i <= n; ++i) heap[i] = i;
  } else if (strcmp(argv[1], "undefined") == 0) {
#pragma omp parallel for reduction(+ : sink)
    for (int i = 0; i < n; ++i) sink += (most + i) > 0;
  } else {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 2; ++i) {
      value++;
      // Both members are there; nothing orders what they do.
      atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
      while (atomic_load_explicit(&arrived, memory_order_relaxed) < 2) {}
    }
  }
  free(heap);
  return 0;
}
"""

# A loop of its own in each of two files, one of which calls the other's function in its loop.
CALLER = """
#include <stdio.h>
long sum_to(long n);
int main(void) {
  long total = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : total)
  for (long i = 0; i < 100; ++i) total += sum_to(i);
  printf("%ld\\n", total);
  return 0;
}
"""
CALLED = """
long sum_to(long n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i <= n; ++i) sum += i;
  return sum;
}
"""
TOOL = """
#include <stdio.h>
void *ompt_start_tool(unsigned version, const char *runtime) {
  puts("asked");
  return NULL;
}
int main(void) {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  members++;
  return members == 0;
}
"""
TOTAL = f"{sum(sum(range(i + 1)) for i in range(100))}\n"


class BuildsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def execute(self, *words, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT", "OMP_", "KMP_"))}
        return finished(words, env=kept | variables, timeout=240, cwd=self.folder)

    def build(self, *words, language=".c"):
        driver, standard = ("weftc++", "-std=c++20") if language == ".cpp" else ("weftcc", "-std=gnu11")
        done = self.execute(DRIVERS / driver, standard, f"-I{HERE.parents[1] / 'include'}", "-w", "-fopenmp", *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def runs_in_silence(self, program, output="", **variables):
        done = self.execute(program, OMP_NUM_THREADS="4", **variables)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, output, ""))
        # Without weft's runtime the program would be silent too.
        counted = self.execute(program, OMP_NUM_THREADS="4", WEFT_STATS="all", **variables)
        self.assertRegex(counted.stderr, r"regions that are one loop: [1-9]")
        # Then the runtime leaves regions to the program.
        standard = self.execute(program, OMP_NUM_THREADS="4", WEFT_REPRODUCIBLE="true", **variables)
        self.assertEqual((standard.returncode, standard.stdout, standard.stderr), (0, output, ""))

    def wrong_is_told(self, kind, message, *more, **variables):
        (self.folder / "wrong.c").write_text(WRONG)
        self.build("-g", "-O1", f"-fsanitize={kind}", *more, "wrong.c", "-o", "wrong")
        told = self.execute(self.folder / "wrong", kind, OMP_NUM_THREADS="4", **variables)
        self.assertNotEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stderr, message)

    def test_address_and_undefined(self):
        for source in PROGRAMS:
            for level in ("-O0", "-O2"):
                with self.subTest(source=source.name, level=level):
                    self.build(
                        "-g",
                        level,
                        "-fsanitize=address,undefined",
                        "-fno-sanitize-recover=all",
                        source,
                        "-o",
                        "program",
                        language=source.suffix,
                    )
                    self.runs_in_silence(self.folder / "program")
        self.wrong_is_told("address", "heap-buffer-overflow(.|\n)*wrong.c:11")
        self.wrong_is_told("undefined", "wrong.c:14.*signed integer overflow", "-fno-sanitize-recover=all")

    @unittest.skipUnless((WEFT / "tsan").is_dir(), "the runtime for -fsanitize=thread is not built (WEFT_TSAN_RUNTIME)")
    def test_thread(self):
        for source in PROGRAMS:
            with self.subTest(source=source.name):
                self.build("-g", "-O1", "-fsanitize=thread", source, "-o", "program", language=source.suffix)
                self.runs_in_silence(self.folder / "program")
        self.wrong_is_told("thread", "data race(.|\n)*wrong.c:18")

    @unittest.skipUnless(os.path.isabs(PLUGIN), "the linker has no plugin for LLVM's code (llvm-19-linker-tools)")
    def test_link_time_optimization(self):
        (self.folder / "caller.c").write_text(CALLER)
        (self.folder / "called.c").write_text(CALLED)
        for flag in ("-flto", "-flto=thin"):
            with self.subTest(flag=flag):
                for name in ("caller", "called"):
                    self.build("-O2", flag, "-c", f"{name}.c", "-o", f"{name}.o")
                self.build("-O2", flag, "caller.o", "called.o", "-o", "program")
                self.runs_in_silence(self.folder / "program", TOTAL)
                for source in PROGRAMS:
                    self.build("-O2", flag, source, "-o", "program", language=source.suffix)
                    self.runs_in_silence(self.folder / "program")

    def test_shared_library(self):
        (self.folder / "caller.c").write_text(CALLER)
        (self.folder / "called.c").write_text(CALLED)
        self.build("-O2", "-fPIC", "-shared", "called.c", "-o", "libcalled.so")
        for options in ([], ["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]):
            with self.subTest(options=options):
                self.build("-O2", *options, "caller.c", "./libcalled.so", "-o", "program")
                self.runs_in_silence(self.folder / "program", TOTAL)

    def test_tool_in_the_program(self):
        """The linker has to export it, without being told to."""
        (self.folder / "tool.c").write_text(TOOL)
        self.build("-O2", "tool.c", "-o", "program")
        self.assertEqual(self.execute(self.folder / "program").stdout, "asked\n")

    def test_static_program_is_refused_in_words(self):
        (self.folder / "caller.c").write_text(CALLER)
        done = self.execute(DRIVERS / "weftcc", "-fopenmp", "-static-pie", "caller.c", "-o", "program")
        self.assertIn(
            "weft is a shared library: a static program runs on the compiler's own OpenMP runtime", done.stderr
        )


if __name__ == "__main__":
    unittest.main()
