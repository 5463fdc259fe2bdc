# SPDX-License-Identifier: Apache-2.0
"""Debian's OpenBLAS on OpenMP, where it cannot have its way."""

import os
import pathlib
import re
import resource
import unittest

from everyone import runtime_for_everyone
from support import ProcessTest

GEMM = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *);
enum { n = 300 };
static double a[n * n], b[n * n];
static int gemm(void) {
  const int size = n;
  const double one = 1, none = 0;
  double *c = malloc(sizeof a), sum = 0;
  dgemm_("N", "N", &size, &size, &size, &one, a, &size, b, &size, &none, c, &size);
  for (int i = 0; i < n * n; i++) sum += c[i];
  free(c);
  return sum == (double)n * n * n * 2;
}
static void fill(void) {
  for (int i = 0; i < n * n; i++) a[i] = 1, b[i] = 2;
}
"""
# The children are copied while another thread's members are in the library.
FORKS = (
    GEMM
    + """
static volatile int over;
static void *compute(void *unused) {
  while (!over) {
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 3; i++) gemm();
  }
  return unused;
}
int main(void) {
  fill();
  pthread_t thread;
  pthread_create(&thread, 0, compute, 0);
  usleep(200000);
  int right = 0;
  for (int i = 0; i < 30; i++) {
    usleep(7000 + i * 131);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(gemm() ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    right += status == 0;
  }
  over = 1;
  pthread_join(thread, 0);
  printf("%d\\n", right);
  return 0;
}
"""
)
CALLS = (
    GEMM
    + """
int main(void) {
  fill();
  int wrong = 0;
  for (int i = 0; i < 4; i++) wrong += !gemm();
#pragma omp parallel num_threads(3) reduction(+ : wrong)
  wrong = !gemm() + !gemm();
  printf("%d wrong\\n", wrong);
  return 0;
}
"""
)
# One member of a region calls; what the program itself is told there follows.
INSIDE = (
    GEMM
    + """
#include <omp.h>
int main(void) {
  int wrong = 0;
  fill();
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 20; i++) wrong += !gemm();
    printf("%d wrong, %d in parallel, %d threads\\n", wrong, omp_in_parallel(), omp_get_max_threads());
  }
  return 0;
}
"""
)
USER = 54323  # nobody else's, not even another test's


class OpenBlas(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        found = sorted(pathlib.Path("/usr/lib").glob("*/openblas-openmp/libopenblas.so"))
        if not found:
            raise unittest.SkipTest("needs the package libopenblas-openmp-dev")
        library = [str(found[0]), f"-Wl,-rpath,{found[0].parent}"]
        cls.forks = cls.build("forks", FORKS, "-pthread", *library)
        cls.calls = cls.build("calls", CALLS, *library)
        archive = [str(found[0].with_suffix(".a")), "-lgfortran", "-lm"]
        cls.linked_in = cls.build("linked_in", INSIDE, *archive)
        cls.linked_in_stripped = cls.build("linked_in_stripped", INSIDE, *archive, "-s")

    def test_children_that_are_forked_beside_calls(self):
        for cpus in "2", "4":
            with self.subTest(cpus=cpus):
                done = self.run_on_weft(self.forks, WEFT_NUM_CPUS=cpus)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "30\n", ""))

    def regions_inside(self, program):
        """How many regions there were inside the program's one."""
        done = self.run_on_weft(program, WEFT_NUM_CPUS="4", OMP_NUM_THREADS="4", WEFT_STATS="all")
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong, 1 in parallel, 4 threads\n"), done.stderr)
        by_level = re.search(r"regions by level:((?: \d+)+)", done.stderr)[1].split()
        return int(by_level[1]) if len(by_level) > 1 else 0

    def test_linked_into_the_program(self):
        """It is told what the library in a file of its own is told; the program around it is not."""
        self.assertGreater(self.regions_inside(self.linked_in), 0)

    def test_linked_into_a_program_without_names(self):
        self.assertEqual(self.regions_inside(self.linked_in_stripped), 0)

    def test_where_threads_are_refused(self):
        if os.geteuid() != 0:
            self.skipTest("the number of a user's processes is limited for another user, and only root can be that")
        there = str(runtime_for_everyone(self.folder))
        for most in (1, 2, 3, 5):
            for cpus in "2", "8":
                with self.subTest(most=most, cpus=cpus):
                    done = self.run_on_weft(
                        "setpriv",
                        f"--reuid={USER}",
                        "--clear-groups",
                        self.calls,
                        limits={resource.RLIMIT_NPROC: most},
                        WEFT_NUM_CPUS=cpus,
                        LD_LIBRARY_PATH=there,
                    )
                    self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
