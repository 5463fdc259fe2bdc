# SPDX-License-Identifier: Apache-2.0
"""What routines answer follows from the environment."""

import unittest

from support import CLANG, ProcessTest

ANSWERS = """
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#ifdef __clang__
#define BLOCK_TIME kmp_get_blocktime()
#else
#define BLOCK_TIME 0
#endif
int main(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("%d %d %d %d\\n", omp_get_max_task_priority(), (int)(kind & 7), chunk, BLOCK_TIME);
  return 0;
}
"""
AUTO, STATIC = 4, 1

# What the kmp_ routines set. The size of stacks shows as the bounds of a member's own.
SETTERS = """
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
void kmp_set_library(int);
int kmp_get_library(void);
void kmp_set_library_serial(void);
void kmp_set_library_turnaround(void);
void kmp_set_library_throughput(void);

static int members(void) {
  int count = 0;
#pragma omp parallel reduction(+ : count)
  count++;
  return count;
}
static size_t stack(void) {
  size_t size = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    pthread_attr_t attributes;
    void *begin;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &size);
    pthread_attr_destroy(&attributes);
  }
  return size;
}

int main(int argc, char **argv) {
  if (argc > 1) kmp_set_stacksize_s(strtoul(argv[1], 0, 10));
  printf("%zu %d %zu ", kmp_get_stacksize_s(), kmp_get_stacksize(), stack() >> 20);
  kmp_set_stacksize_s(1 << 20);  // too late
  printf("%zu ", kmp_get_stacksize_s());

  printf("%d ", kmp_get_library());
  kmp_set_library_serial();
  printf("%d %d ", kmp_get_library(), members());
  kmp_set_library_turnaround();
  printf("%d %d ", kmp_get_library(), members());
  kmp_set_library(1);
#pragma omp parallel num_threads(2)
#pragma omp single
  kmp_set_library(2);  // not here
  printf("%d %d ", kmp_get_library(), members());
  kmp_set_library_throughput();
  printf("%d %d ", kmp_get_library(), members());

  int before = kmp_get_blocktime();
  kmp_set_blocktime(-1);
  printf("%d ", kmp_get_blocktime());
  kmp_set_blocktime(5);
  printf("%d ", kmp_get_blocktime());
  members();
  kmp_set_blocktime(before);
  printf("%d\\n", kmp_get_blocktime());
  return members() < 1;
}
"""

# CPU time in ms that idle workers use in the 60 ms behind a region, by block times 0 and 40.
IDLE = """
#include <omp.h>
#include <stdio.h>
#include <time.h>
static long cpu_ms(void) { return clock() * 1000 / CLOCKS_PER_SEC; }
static long idle(int block_time) {
  kmp_set_blocktime(block_time);
  const struct timespec nap = {0, 60000000};
  long least = 1000;
  for (int i = 0; i < 5; i++) {
#pragma omp parallel
    {
    }
    long before = cpu_ms();
    nanosleep(&nap, 0);
    long used = cpu_ms() - before;
    if (used < least) least = used;
  }
  return least;
}
int main(void) {
  long shortly = idle(0), longer = idle(40);
  printf("%ld %ld\\n", shortly, longer);
  return 0;
}
"""


class Settings(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.answers = cls.build("answers", ANSWERS)
        cls.answers_by_clang = cls.build("answers-clang", ANSWERS, compiler=CLANG)
        cls.setters = cls.build("setters", SETTERS, compiler=CLANG)
        cls.idle = cls.build("idle", IDLE, compiler=CLANG)

    def ask(self, program, **variables):
        done = self.run_on_weft(program, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [int(word) for word in done.stdout.split()]

    def test_priority(self):
        self.assertEqual(self.ask(self.answers)[0], 0)
        self.assertEqual(self.ask(self.answers, OMP_MAX_TASK_PRIORITY="42")[0], 42)

    def test_chunk_left_out(self):
        self.assertEqual(self.ask(self.answers, OMP_SCHEDULE="auto")[1:3], [AUTO, 1])
        self.assertEqual(self.ask(self.answers, OMP_SCHEDULE="static")[1:3], [STATIC, 0])

    def test_block_time(self):
        self.assertEqual(self.ask(self.answers_by_clang, OMP_WAIT_POLICY="passive")[3], 0)
        self.assertEqual(self.ask(self.answers_by_clang, OMP_WAIT_POLICY="active")[3], 2**31 - 1)

    def test_setters(self):
        libraries = [3, 1, 1, 2, 4, 1, 1, 3, 4]
        done = self.run_on_weft(self.setters, str(5 << 20), OMP_NUM_THREADS="4")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = [int(word) for word in done.stdout.split()]
        self.assertEqual(words, [5 << 20, 5 << 20, 5, 5 << 20, *libraries, 0, 5, 200])
        done = self.run_on_weft(self.setters, OMP_NUM_THREADS="4", OMP_STACKSIZE="3M", OMP_WAIT_POLICY="passive")
        words = [int(word) for word in done.stdout.split()]
        self.assertEqual(words, [3 << 20, 3 << 20, 3, 3 << 20, *libraries, 0, 5, 0])

    def test_wrong_library(self):
        program = self.build(
            "library", "void kmp_set_library(int);\nint main(void) { kmp_set_library(7); return 0; }", compiler=CLANG
        )
        done = self.run_on_weft(program)
        self.assertEqual(done.returncode, 0)
        self.assertIn("kmp_set_library(7)", done.stderr)

    def test_block_time_is_how_long_workers_look(self):
        # Who looks lets others go first: on a busy machine that may take all of its time.
        for _ in range(50):
            shortly, longer = self.ask(self.idle, OMP_NUM_THREADS="2", WEFT_NUM_CPUS="2")
            if longer > shortly:
                break
        self.assertGreater(longer, shortly)
        # Who has set it for a measurement keeps it.
        shortly, longer = self.ask(self.idle, OMP_NUM_THREADS="2", WEFT_NUM_CPUS="2", WEFT_SPIN_US="10")
        self.assertLess(longer, 20)


if __name__ == "__main__":
    unittest.main()
