# SPDX-License-Identifier: Apache-2.0
"""What members set for themselves, and the masks of children, however the runtime comes into the process."""

import subprocess
import unittest

from command_test import CLANG, GCC, CommandTest

# A library with regions. Members pin themselves to the first CPU; counts those that are not told so, and the CPUs that
# the members of a later region have together.
LIBRARY = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
int wrong_masks(void) {
  int wrong = 0;
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
#pragma omp parallel num_threads(2 * CPU_COUNT(&all)) reduction(+ : wrong)
  {
    cpu_set_t told;
    sched_setaffinity(0, sizeof one, &one);
#pragma omp barrier
    sched_getaffinity(0, sizeof told, &told);
    wrong += !CPU_EQUAL(&told, &one);
  }
  sched_setaffinity(0, sizeof all, &all);
  return wrong;
}
int cpus_together(void) {
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (int round = 0; round < 20; round++)
#pragma omp parallel num_threads(2)
  {
    cpu_set_t mine;
    CPU_ZERO(&mine);
#pragma omp barrier
    syscall(SYS_sched_getaffinity, 0, sizeof mine, &mine);
#pragma omp critical
    CPU_OR(&seen, &seen, &mine);
  }
  return CPU_COUNT(&seen);
}
"""
# A program without OpenMP, which has called what is to come to the runtime before that is there.
LATE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
static int cpus(void) {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  return CPU_COUNT(&mask);
}
int main(int count, char **words) {
  char command[4096];
  if (count == 2) return cpus();
  snprintf(command, sizeof command, "exec '%s' ask", words[0]);
  const int all = cpus(), before = WEXITSTATUS(system(command));
  void *library = dlopen(words[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  int (*wrong_masks)(void) = (int (*)(void))dlsym(library, "wrong_masks");
  int (*cpus_together)(void) = (int (*)(void))dlsym(library, "cpus_together");
  printf("wrong %d, lost %d,", wrong_masks(), all - cpus_together());
  printf(" child before %d, after %d\n", all - before, all - WEXITSTATUS(system(command)));
  return 0;
}
"""
RIGHT = "wrong 0, lost 0, child before 0, after 0\n"


class OwnSettings(CommandTest):
    def build_shared(self, compiler):
        source = self.folder / "own.c"
        source.write_text(LIBRARY)
        built = self.folder / ("libown-gcc.so" if compiler == GCC else "libown-clang.so")
        subprocess.run([compiler, "-O1", "-fopenmp", "-shared", "-fPIC", source, "-o", built], check=True)
        return built

    def test_of_a_library_that_comes_late(self):
        for compiler in GCC, CLANG:
            library = self.build_shared(compiler)
            for flags in ("-Wl,-z,now",), ("-Wl,-z,lazy",), ("-no-pie", "-Wl,-z,now"), ("-Wl,--hash-style=sysv",):
                program = self.build("late", LATE, *flags, "-fno-openmp")
                for options in (), ("--preload",):
                    for binding in {}, {"OMP_PROC_BIND": "true"}:
                        with self.subTest(compiler=compiler, flags=flags, options=options, binding=binding):
                            done = self.weft("run", *options, program, library, "x", env=binding)
                            self.assertEqual((done.returncode, done.stdout), (0, RIGHT), done.stderr)


if __name__ == "__main__":
    unittest.main()
