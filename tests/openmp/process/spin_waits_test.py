#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Members that wait for each other by looking at memory run by turns under `weft run`: no OS thread is lent, whatever
the compiler has made of the loop."""

import os
import pathlib
import platform
import re
import subprocess
import unittest

from support import CLANG, GCC, TIMEOUT_S, ProcessTest

WEFT = os.environ["WEFT_COMMAND"]

# argv: members, rounds. A word goes round, of a type and by loads that are set when it is built.
ROUND = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef TYPE
#define TYPE int
#endif
#ifndef LOOK
#define LOOK turn
#endif
static volatile TYPE turn;
#ifndef WAIT
#define WAIT while ((TYPE)(LOOK) != (TYPE)me) PAUSE;
#endif
#ifndef PAUSE
#define PAUSE
#endif
int main(int argc, char **argv) {
  const int members = atoi(argv[argc - 2]), rounds = atoi(argv[argc - 1]);
  long sum = 0;
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; i++) {
      WAIT
      sum += me;
      turn = (TYPE)((me + 1) % members);
    }
  }
  printf("%ld\n", sum);
  return 0;
}
"""

# Registers of vectors are in use while members wait, and a function that calls nothing waits with data beyond the end of
# its stack.
REGISTERS = r"""
#include <omp.h>
#include <stdio.h>
static volatile int turn;
__attribute__((noinline)) static double wait_for(int me, double a, double b, const double *more) {
  double c = a * 3 + more[0], d = b * 5 + more[1], e = a - b * more[2], f = a * b + more[3];
  long w = (long)a + 1, x = (long)b + 2, y = (long)c + 3, z = (long)d + 4;
  while (turn != me) continue;
  return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + (double)(w + 2 * x + 3 * y + 4 * z);
}
int main(void) {
  const int members = 6;
  const double more[4] = {1, 2, 3, 4};
  int wrong = 0;
  double expected[6];
  for (int i = 0; i < members; i++) turn = i, expected[i] = wait_for(i, i + 0.5, i * 2 + 0.25, more);
  turn = 0;
#pragma omp parallel num_threads(members) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < 300; i++) {
      wrong += wait_for(me, me + 0.5, me * 2 + 0.25, more) != expected[me];
      turn = (me + 1) % members;
    }
  }
  printf("%d\n", wrong);
  return 0;
}
"""

# A library whose members wait is opened and closed again and again.
LIBRARY = r"""
#include <omp.h>
static volatile int turn;
long go_round(int members, int rounds) {
  long sum = 0;
  turn = 0;
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; i++) {
      while (turn != me) continue;
      sum += me;
      turn = (me + 1) % members;
    }
  }
  return sum;
}
"""
OPENS = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  long sum = 0;
  for (int i = 0; i < 100; i++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) return puts(dlerror()), 1;
    long (*go_round)(int, int) = (long (*)(int, int))dlsym(library, "go_round");
    sum += go_round(5, 10);
    dlclose(library);
  }
  printf("%ld\n", sum);
  return 0;
}
"""

# Each has two threads wait for each other by a word; the loops are what compilers make of them.
MEETS = r"""
#include <omp.h>
#include <stdio.h>
static int word;
static void wait_for_it(int *p, int me, int kind);
int main(void) {
  int start = 0;
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < 100; i++) {
      for (int kind = 0; kind < 3; kind++) {
        if (me == 0) __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
#pragma omp barrier
        if (me == 0) __atomic_store_n(&word, -1, __ATOMIC_RELEASE);
        if (me == 0) __atomic_store_n(&word, 7, __ATOMIC_RELEASE);
        wait_for_it(&word, 7, kind);
#pragma omp barrier
      }
    }
  }
  puts(start == 0 ? "done" : "");
  return 0;
}
"""
UNUSUAL = {
    "shared_end": MEETS
    + r"""
__attribute__((noinline)) static void wait_for_it(int *word, int me, int kind) {
  volatile int *p = word;
  int v;
  (void)kind;
  do {
    while ((v = *p) < 0) __asm__ volatile("pause");
  } while (v != me);
}
""",
    "table": MEETS
    + r"""
__attribute__((noinline)) static void wait_for_it(int *p, int me, int kind) {
  switch (kind) {
    case 0: while (*p != me) __asm__ volatile("pause" ::: "memory"); break;
    case 1: while (*p < me) __asm__ volatile("" ::: "memory"); break;
    case 2: while (*p - 1 < me - 1) __asm__ volatile("pause" ::: "memory"); break;
    case 3: puts("3"); break;
    case 4: puts("4"); break;
    default: puts("none"); break;
  }
}
""",
    "computed": MEETS
    + r"""
__attribute__((noinline)) static void wait_for_it(int *p, int me, int kind) {
  static void *const places[] = {&&first, &&second, &&third};
  goto *places[kind];
first:
  while (*p != me) __asm__ volatile("pause" ::: "memory");
  return;
second:
  while (*p != me) __asm__ volatile("" ::: "memory");
  return;
third:
  while (*p < me) __asm__ volatile("pause" ::: "memory");
}
""",
    "middle": MEETS
    + r"""
__attribute__((noinline)) static void wait_for_it(int *word, int me, int kind) {
  volatile int *p = word;
  int v = kind - 1;
  while (v < me) v = *p;
}
""",
}

FORMS = {
    "plain": [],
    "long": ["-DTYPE=long"],
    "char": ["-DTYPE=char"],
    "short": ["-DTYPE=short"],
    "atomic": ["-DLOOK=__atomic_load_n(&turn, __ATOMIC_ACQUIRE)"],
    "pause": ["-DPAUSE=__builtin_ia32_pause()"],
    "fence": ["-DPAUSE=__sync_synchronize()"],
    "openmp": ['-DWAIT=for (int seen = -1; seen != me;) {_Pragma("omp atomic read") seen = turn; }'],
    "flush": ['-DWAIT=for (;;) {_Pragma("omp flush") if (turn == me) break; }'],
}
# Without optimization gcc writes some in two pieces, and clang has what is loaded go through the stack.
LEFT_ALONE = {
    (GCC, "-O0"): ("pause", "fence", "openmp", "flush"),
    (CLANG, "-O0"): ("short", "atomic", "openmp"),
}


@unittest.skipUnless(platform.machine() == "x86_64", "loops are changed on x86-64 alone")
class SpinWaits(ProcessTest):
    def run_by_weft(self, *command, **variables):
        variables = {"WEFT_SPIN_WAITS": "true"} | variables
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "WEFT_"))
        }
        done = subprocess.run(
            [WEFT, "run", "--stats=all", *map(str, command)],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def lent(self, stderr):
        return sum(int(re.search(rf"{what}: (\d+)", stderr)[1]) for what in ("compensations", "their beginning"))

    def check(self, done, sum_):
        self.assertEqual(done.stdout, f"{sum_}\n")
        # Where other processes take the CPUs, the monitor may try whether a thread helps.
        self.assertLessEqual(self.lent(done.stderr), 2, done.stderr)

    def test_no_thread_is_lent(self):
        for compiler in (GCC, CLANG):
            for level in ("-O0", "-O2"):
                for form, flags in FORMS.items():
                    calls_runtime = compiler == CLANG and form == "flush"
                    if calls_runtime or form in LEFT_ALONE.get((compiler, level), ()):
                        continue
                    with self.subTest(compiler=compiler, level=level, form=form):
                        name = f"{pathlib.Path(compiler).name}{level}-{form}"
                        program = self.build(name, ROUND, level, *flags, compiler=compiler)
                        done = self.run_by_weft(program, 7, 300, WEFT_NUM_CPUS="2")
                        self.check(done, 300 * 21)

    def test_programs_at_fixed_addresses(self):
        program = self.build("fixed", ROUND, "-no-pie", "-O2")
        self.check(self.run_by_weft(program, 7, 300, WEFT_NUM_CPUS="2"), 300 * 21)

    def test_more_members_than_cpus(self):
        program = self.build("many", ROUND, "-O2")
        for cpus, members in ((1, 2), (1, 16), (2, 64), (8, 64)):
            with self.subTest(cpus=cpus, members=members):
                done = self.run_by_weft(program, members, 50, WEFT_NUM_CPUS=str(cpus))
                self.assertEqual(done.stdout, f"{50 * members * (members - 1) // 2}\n")

    def test_registers_are_kept(self):
        for level in ("-O1", "-O3"):
            for more in ([], ["-march=native"]):
                with self.subTest(level=level, more=more):
                    program = self.build(f"registers{level}{len(more)}", REGISTERS, level, *more)
                    self.check(self.run_by_weft(program, WEFT_NUM_CPUS="2"), 0)

    def test_libraries_come_and_go(self):
        library = self.build("libround.so", LIBRARY, "-O2", "-shared", "-fPIC")
        program = self.build("opens", OPENS, "-ldl")
        # An empty value is none: libraries alone.
        done = self.run_by_weft(program, library, WEFT_NUM_CPUS="2", WEFT_SPIN_WAITS="")
        self.check(done, 100 * 10 * 10)

    # The audit library leaves such loops alone; the monitor lends threads.
    def test_where_loops_are_left_alone_threads_are_lent(self):
        program = self.build("left", ROUND, "-O2")
        for setting in ("", "false", "no such value"):
            with self.subTest(setting):
                done = self.run_by_weft(program, 4, 20, WEFT_NUM_CPUS="2", WEFT_SPIN_WAITS=setting)
                self.assertEqual(done.stdout, f"{20 * 6}\n")
                self.assertGreaterEqual(self.lent(done.stderr), 2)

    # Loops that share their end, that are entered by a jump table or in the middle, code that is data.
    def test_unusual_loops_run(self):
        for compiler in (GCC, CLANG):
            for level in ("-O1", "-O2", "-Os"):
                for name, source in UNUSUAL.items():
                    with self.subTest(compiler=compiler, level=level, name=name):
                        program = self.build(
                            f"{pathlib.Path(compiler).name}{level}-{name}", source, level, compiler=compiler
                        )
                        done = self.run_by_weft(program, WEFT_NUM_CPUS="2")
                        self.assertEqual(done.stdout, "done\n")

    def test_programs_run_by_the_dynamic_linker(self):
        linker = "/lib64/ld-linux-x86-64.so.2"
        program = self.build("linked", ROUND, "-O2")
        done = self.run_by_weft(linker, program, 3, 10)
        self.assertEqual(done.stdout, "30\n")


if __name__ == "__main__":
    unittest.main()
