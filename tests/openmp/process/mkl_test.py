# SPDX-License-Identifier: Apache-2.0
"""What MKL is told when it asks for a number of threads. A library with a function of MKL's name stands for it here;
tests/python/full_test.py has PyTorch's."""

import unittest

from support import ProcessTest

# The pages of the function hold nothing else that asks, as in MKL. Not by a tail call: the question is the library's.
LIBRARY = """
#include <omp.h>
__attribute__((aligned(4096))) int mkl_serv_domain_get_max_threads(int domain) {
  (void)domain;
  const int threads = omp_get_max_threads();
  __asm__ volatile("" ::: "memory");
  return threads;
}
__attribute__((aligned(4096))) int ask_otherwise(void) {
  const int threads = omp_get_max_threads();
  __asm__ volatile("" ::: "memory");
  return threads;
}
"""
# program OTHERS: what is answered while so many threads compute that have opened regions.
PROGRAM = """
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int mkl_serv_domain_get_max_threads(int domain);
int ask_otherwise(void);
static volatile int computing, over;
static void *compute(void *unused) {
  for (int i = 0; !over; i++) {
#pragma omp parallel num_threads(2)
    for (volatile int work = 0; work < 10000; work++) {}
    if (i == 0) __atomic_fetch_add(&computing, 1, __ATOMIC_SEQ_CST);
  }
  return unused;
}
// As PyTorch does.
__attribute__((noinline)) static void hand_on(void) { omp_set_num_threads(mkl_serv_domain_get_max_threads(-1)); }
// MKL asks from deeper inside.
__attribute__((noinline)) static int product(void) {
  volatile char packed[4096];
  packed[0] = 0;
  const int threads = mkl_serv_domain_get_max_threads(1);
  return threads + packed[0];
}
int main(int argc, char **argv) {
  const int others = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t threads[16];
  for (int i = 0; i < others; i++) pthread_create(&threads[i], 0, compute, 0);
  while (computing < others) usleep(1000);
  const int given = omp_get_max_threads();
  int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
  inside = mkl_serv_domain_get_max_threads(1);
  // The smallest answer: another thread may be late, or between two regions.
  int told = given;
  for (int i = 0; i < 100; i++) {
    const int answer = mkl_serv_domain_get_max_threads(1);
    if (answer < told) told = answer;
    usleep(500);
  }
  printf("told %d, inside %d, others %d\\n", told, inside, ask_otherwise());
  hand_on();
  const int kept = omp_get_max_threads();
  const int again = product();
  omp_set_num_threads(again);
  printf("kept %d, set %d\\n", kept == given, omp_get_max_threads() == again);
  over = 1;
  for (int i = 0; i < others; i++) pthread_join(threads[i], 0);
  return 0;
}
"""


class Mkl(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        library = cls.build("libasks.so", LIBRARY, "-shared", "-fPIC")
        cls.program = cls.build("program", PROGRAM, str(library), f"-Wl,-rpath,{cls.folder}")

    def told(self, others, **variables):
        """What MKL is told outside of regions. Inside, and other callers, are told 4."""
        done = self.run_on_weft(self.program, str(others), WEFT_NUM_CPUS="4", OMP_NUM_THREADS="4", **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^told \d, inside 4, others 4\nkept 1, set 1\n$")
        return int(done.stdout.split()[1].rstrip(","))

    def test_alone(self):
        self.assertEqual(self.told(0), 4)

    def test_beside_threads_that_compute(self):
        """An even share, or more where CPUs are idle; never the CPUs of the others."""
        self.assertEqual(self.told(3), 1)
        self.assertEqual(self.told(8), 1)
        self.assertIn(self.told(1), (2, 3))

    def test_where_it_is_answered_as_others_are(self):
        self.assertEqual(self.told(3, WEFT_NESTED_LIBRARIES="false"), 4)
        self.assertEqual(self.told(3, WEFT_REPRODUCIBLE="true"), 4)


if __name__ == "__main__":
    unittest.main()
