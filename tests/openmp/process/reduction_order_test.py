# SPDX-License-Identifier: Apache-2.0
"""Under WEFT_REPRODUCIBLE sums of floating-point numbers have the same bits in each region and each process, in whatever
order members come to the end. By clang, which gives the runtime the parts; gcc's programs combine them themselves."""

import unittest

from support import CLANG, ProcessTest

SUMS = """
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { members = 7, count = 700, rounds = 100 };

// Such that any other order gives other bits.
static double value(int i) { return (i % 2 ? -1 : 1) * ldexp(1 + i * 1e-3, i * 37 % 60); }

// Members come in another order each time.
static __thread unsigned seed;
static void dawdle(void) {
  if (seed == 0) seed = (unsigned)getpid() * 31u + (unsigned)omp_get_thread_num() * 7u + (unsigned)omp_get_team_num() + 1u;
  switch (rand_r(&seed) % 4) {
    case 0: usleep(rand_r(&seed) % 300); break;
    case 1: for (volatile unsigned n = rand_r(&seed) % 20000; n > 0; n--) {}
  }
}

static double of_parallel(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static) num_threads(members)
  for (int i = 0; i < count; i++) {
    if (i % 100 == 99) dawdle();
    sum += value(i);
  }
  return sum;
}
static double of_loop(void) {
  double sum = 0, product = 1, seen = 0;
#pragma omp parallel num_threads(members)
  for (int k = 0; k < 3; k++) {
    dawdle();
#pragma omp for reduction(+ : sum) reduction(* : product) schedule(static)
    for (int i = 0; i < count; i++) {
      sum += value(i) * (k + 1);
      product *= 1 + 1e-3 * sin(i);
    }
    // All see the whole behind the loop.
    double found = sum;
#pragma omp barrier
#pragma omp critical
    if (found != sum) seen = 1;
#pragma omp barrier
  }
  return sum * product + seen;
}
static double of_nowait(void) {
  double first = 0, second = 0;
#pragma omp parallel num_threads(members)
  {
    dawdle();
#pragma omp for reduction(+ : first) schedule(static, 3) nowait
    for (int i = 0; i < count; i++) first += value(i);
    dawdle();
#pragma omp for reduction(+ : second) schedule(static) nowait
    for (int i = 0; i < count; i++) second += value(i) * 3;
  }
  return first - second;
}
static double of_nested(void) {
  double sum = 0;
#pragma omp parallel reduction(+ : sum) num_threads(4)
  {
    double inner = 0;
    const int outer = omp_get_thread_num();
#pragma omp parallel for reduction(+ : inner) num_threads(3) schedule(static)
    for (int i = 0; i < count; i++) {
      if (i % 200 == 0) dawdle();
      inner += value(i + outer);
    }
    sum += inner * (1 + outer * 1e-7);
  }
  return sum;
}
static double of_teams(void) {
  double sum = 0;
#pragma omp teams distribute parallel for reduction(+ : sum) num_teams(5) num_threads(3) schedule(static)
  for (int i = 0; i < count; i++) {
    if (i % 50 == 0) dawdle();
    sum += value(i);
  }
  return sum;
}
static double of_league(void) {
  double sum = 0;
#pragma omp teams reduction(+ : sum) num_teams(6)
  {
    dawdle();
    for (int i = omp_get_team_num(); i < count; i += 6) sum += value(i);
#pragma omp parallel num_threads(1)
    dawdle();
  }
  return sum;
}
// Explicit tasks are about, which members run at barriers.
static double beside_tasks(void) {
  double sum = 0;
#pragma omp parallel num_threads(members)
  {
#pragma omp task
    dawdle();
#pragma omp for reduction(+ : sum) schedule(static) nowait
    for (int i = 0; i < count; i++) sum += value(i);
#pragma omp task
    dawdle();
#pragma omp for reduction(+ : sum) schedule(static)
    for (int i = 0; i < count; i++) sum += value(i) * 5;
  }
  return sum;
}
struct pair { double real, imaginary; };
static void add(struct pair *into, const struct pair *from) {
  into->real += from->real;
  into->imaginary += from->imaginary;
}
#pragma omp declare reduction(pair : struct pair : add(&omp_out, &omp_in)) initializer(omp_priv = {0, 0})
// Without atomic operations, and many bytes.
static double of_records(void) {
  struct pair sum = {0, 0};
  double array[9] = {0};
#pragma omp parallel for reduction(pair : sum) reduction(+ : array) num_threads(members) schedule(static)
  for (int i = 0; i < count; i++) {
    if (i % 100 == 99) dawdle();
    sum.real += value(i);
    sum.imaginary -= value(i + 1);
    array[i % 9] += value(i);
  }
  for (int i = 0; i < 9; i++) sum.real += array[i];
  return sum.real + sum.imaginary;
}

int main(void) {
  static double (*const kinds[])(void) = {of_parallel, of_loop,   of_nowait,    of_nested,
                                          of_teams,    of_league, beside_tasks, of_records};
  for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    double found[rounds];
    int distinct = 0;
    for (int i = 0; i < rounds; i++) {
      const double sum = kinds[kind]();
      int k = 0;
      while (k < distinct && memcmp(&found[k], &sum, sizeof sum) != 0) k++;
      if (k == distinct) found[distinct++] = sum;
    }
    printf("%u: %d, %a\\n", kind, distinct, found[0]);
  }
  return 0;
}
"""

# Members that have left a cancelled region, or not begun, are not waited for.
CANCEL = """
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 300; i++) {
    double sum = 0, inside = 0;
#pragma omp parallel reduction(+ : sum) num_threads(6)
    {
      double part[64] = {1};
      if (omp_get_thread_num() == i % 6) {
        if (i % 4 == 0) usleep(100);
#pragma omp cancel parallel
      }
#pragma omp for reduction(+ : inside) nowait
      for (int k = 0; k < 6; k++) inside += part[k % 64];
      sum += inside;
#pragma omp cancellation point parallel
    }
    int whole = 0;
#pragma omp parallel reduction(+ : whole) num_threads(6)
    whole++;
    if (whole != 6) return 1;
  }
  puts("over");
  return 0;
}
"""


class ReductionOrder(ProcessTest):
    def of(self, program, **variables):
        done = self.run_on_weft(program, WEFT_REPRODUCIBLE="true", **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_one_pattern_of_bits(self):
        program = self.build("sums", SUMS, "-lm", compiler=CLANG)
        found = {
            self.of(program, WEFT_NUM_CPUS=cpus, OMP_WAIT_POLICY=policy, OMP_MAX_ACTIVE_LEVELS="3")
            for cpus in ("2", "8", "2")
            for policy in ("active", "passive")
        }
        self.assertEqual(len(found), 1, found)
        for line in found.pop().splitlines():
            self.assertIn(": 1, ", line)

    def test_nobody_waits_in_a_cancelled_region(self):
        program = self.build("cancel", CANCEL, compiler=CLANG)
        for cpus in ("1", "2", "6"):
            with self.subTest(cpus=cpus):
                self.assertEqual(self.of(program, WEFT_NUM_CPUS=cpus, OMP_CANCELLATION="true"), "over\n")


if __name__ == "__main__":
    unittest.main()
