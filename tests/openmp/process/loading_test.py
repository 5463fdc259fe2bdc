# SPDX-License-Identifier: Apache-2.0
"""Ways a process comes to use OpenMP: constructors, static initialisers, dlopen, preloading, two ABIs at once."""

import subprocess
import unittest

from support import CLANG, GCC, RUNTIME, ProcessTest

REGION = """
#include <omp.h>
int region(int threads) {
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    members++;
#pragma omp barrier
  }
  return members;
}
"""


def mapped_runtimes(text):
    return {line.split()[-1] for line in text.splitlines() if "/lib" in line and ("gomp" in line or "omp" in line)}


class Loading(ProcessTest):
    def build_shared(self, name, compiler=GCC, source=REGION):
        return self.build(name, source, "-shared", "-fPIC", compiler=compiler)

    def expect(self, program, text, **variables):
        done = self.run_on_weft(program, **variables)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_constructor_of_a_library(self):
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                library = self.build_shared(
                    "libconstructor.so",
                    compiler,
                    REGION
                    + """
int from_constructor;
__attribute__((constructor)) static void start(void) { from_constructor = region(4); }
""",
                )
                program = self.build(
                    "uses_constructor",
                    """
#include <stdio.h>
extern int from_constructor;
int region(int threads);
int main(void) { return printf("%d %d\\n", from_constructor, region(3)) < 0; }
""",
                    str(library),
                    f"-Wl,-rpath,{self.folder}",
                    compiler=compiler,
                )
                self.expect(program, "4 3\n")

    def test_static_initialiser(self):
        program = self.build(
            "initialiser",
            """
#include <cstdio>
static int region(int threads) {
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  members++;
  return members;
}
static const int early = region(5);
struct Late {
  ~Late() { std::printf("%d\\n", region(3)); }
} late;
int main() { std::printf("%d %d\\n", early, region(2)); }
""",
            compiler="g++",
        )
        self.expect(program, "5 2\n3\n")

    def test_dlopen(self):
        program = self.build(
            "opens",
            """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **paths) {
  for (int round = 0; round < 3; round++)
    for (int i = 1; i < count; i++) {
      void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
      if (!library) return fprintf(stderr, "%s\\n", dlerror()), 1;
      int (*region)(int) = (int (*)(int))dlsym(library, "region");
      printf("%d ", region(4));
      dlclose(library);
    }
  puts("");
  return 0;
}
""",
            "-fno-openmp",
            "-ldl",
        )
        by_gcc = self.build_shared("libgcc_region.so")
        by_clang = self.build_shared("libclang_region.so", CLANG)
        done = self.run_on_weft(program, by_gcc, by_clang)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "4 4 4 4 4 4 \n", ""))

    def test_dlopen_inside_a_region(self):
        """A plug-in with regions and thread_local data comes and goes while members run."""
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                library = self.build_shared(
                    "libplugin.so",
                    compiler,
                    REGION
                    + """
static _Thread_local int calls;
int counted(int threads) { calls++; return region(threads) + calls; }
""",
                )
                program = self.build(
                    "dlopen_inside",
                    """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
  long total = 0;
#pragma omp parallel num_threads(4) reduction(+ : total)
  for (int i = 0; i < 20; i++) {
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    if (!library) printf("%s\\n", dlerror());
    int (*counted)(int) = (int (*)(int))dlsym(library, "counted");
    total += counted(3);
#pragma omp barrier
    dlclose(library);
#pragma omp barrier
    // Nobody has it open now: the next one begins with fresh data.
  }
  return printf("%ld\\n", total) < 0;
}
""",
                    "-ldl",
                )
                done = self.run_on_weft(program, library)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{4 * 20 * (3 + 1)}\n", ""))

    def test_both_interfaces_in_one_process(self):
        """gcc's region inside clang's and the other way round: one team structure, one runtime."""
        outer = """
#include <stdio.h>
#include <omp.h>
int region(int threads);
int main(void) {
  int sum = 0, depth = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum) reduction(max : depth)
  {
    sum += region(4);
    depth = omp_get_level();
  }
  printf("%d %d\\n", sum, depth);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  while (fgets(line, sizeof line, maps)) fputs(line, stderr);
  return 0;
}
"""
        for ours, theirs in ((GCC, CLANG), (CLANG, GCC)):
            with self.subTest(outer=ours, inner=theirs):
                library = self.build_shared(f"libinner_{theirs}.so".replace("/", "_"), theirs)
                program = self.build(f"outer_{ours}", outer, str(library), f"-Wl,-rpath,{self.folder}", compiler=ours)
                done = self.run_on_weft(program)
                self.assertEqual((done.returncode, done.stdout), (0, "12 1\n"), done.stderr)
                mapped = mapped_runtimes(done.stderr)
                self.assertEqual({path.rsplit("/", 1)[0] for path in mapped if "libinner" not in path}, {str(RUNTIME)})

    def test_preloaded_over_the_linked_runtime(self):
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                program = self.build(
                    f"preloaded_{compiler}",
                    """
#include <stdio.h>
#include <omp.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  printf("%d\\n", members);
  return 0;
}
""",
                    compiler=compiler,
                )
                done = self.run_on_weft(
                    program,
                    LD_LIBRARY_PATH="/usr/lib/llvm-19/lib",
                    LD_PRELOAD=str(RUNTIME / "libgomp.so.1"),
                    WEFT_STATS="all",
                )
                self.assertEqual((done.returncode, done.stdout), (0, "4\n"), done.stderr)
                self.assertIn("weft statistics", done.stderr)
                self.assertIn("regions by level: 1", done.stderr)

    def test_link_time(self):
        """-L with weft's directory is enough to link, for both compilers."""
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                program = self.build(
                    f"linked_{compiler}",
                    REGION + "int main(void) { return region(4); }",
                    f"-L{RUNTIME}",
                    f"-Wl,-rpath,{RUNTIME}",
                    compiler=compiler,
                )
                done = subprocess.run([str(program)], check=False, timeout=20)
                self.assertEqual(done.returncode, 4)


if __name__ == "__main__":
    unittest.main()
