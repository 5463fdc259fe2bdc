# SPDX-License-Identifier: Apache-2.0
"""OMP_THREAD_LIMIT counts the members of every region, however it was begun."""

import unittest

from support import ProcessTest

# gcc 4.8 and older wrote a region as two calls with the primary's body between them.
OLD_ENTRIES = r"""
#include <omp.h>
#include <stdio.h>
void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_static_start(void (*)(void *), void *, unsigned, long, long, long, long);
_Bool GOMP_loop_static_next(long *, long *);
void GOMP_loop_end_nowait(void);

static int members;
static void count(void *unused) { (void)unused; __atomic_fetch_add(&members, 1, __ATOMIC_RELAXED); }
static int region(unsigned threads)
{
  members = 0;
  GOMP_parallel_start(count, 0, threads);
  count(0);
  GOMP_parallel_end();
  return members;
}
static void loop_body(void *unused)
{
  (void)unused;
  long from, to;
  while (GOMP_loop_static_next(&from, &to)) {}
  GOMP_loop_end_nowait();
  count(0);
}

int main(void)
{
  printf("%d %d ", region(0), region(3));
  members = 0;
  GOMP_parallel_loop_static_start(loop_body, 0, 0, 0, 100, 1, 0);
  loop_body(0);
  GOMP_parallel_end();
  printf("%d ", members);
  // One after the other, inside both members.
  int most = 0, least = 99;
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
#pragma omp critical
    {
      int inner = region(4);
      if (inner > most) most = inner;
      if (inner < least) least = inner;
    }
  }
  printf("%d %d ", most, least);
  // All has been given back.
  printf("%d\n", region(8));
  return 0;
}
"""

# Takes itself for OpenBLAS: it asks how many threads it may have, opens a region of so many, and they wait for each
# other.
LIBRARY = r"""
#include <omp.h>
#include <time.h>
static int running, most;
static void note(int change)
{
  int now = __atomic_add_fetch(&running, change, __ATOMIC_SEQ_CST), seen = __atomic_load_n(&most, __ATOMIC_SEQ_CST);
  while (seen < now && !__atomic_compare_exchange_n(&most, &seen, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
}
static void work(void)
{
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 1000000);
}
int library_call(void)
{
  int threads = omp_get_max_threads();
  if (omp_in_parallel()) threads = 1;
  note(1);
  if (threads == 1) {
    work();
    note(-1);
    return 1;
  }
  int here = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() > 0) note(1);
    __atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&here, __ATOMIC_SEQ_CST) < threads) {}
    work();
    if (omp_get_thread_num() > 0) note(-1);
  }
  note(-1);
  return threads;
}
int library_most(void) { return most; }
"""
CALLER = r"""
#include <omp.h>
#include <stdio.h>
int library_call(void);
int library_most(void);
int main(void)
{
  int alone = library_call(), widest = 1;
  for (int round = 0; round < 8; round++) {
#pragma omp parallel num_threads(2) reduction(max : widest)
    for (int call = 0; call < 3; call++) {
      int threads = library_call();
      if (threads > widest) widest = threads;
    }
  }
  int members = 0;
#pragma omp parallel num_threads(8) reduction(+ : members)
  members++;
  printf("%d %d %d %d\n", alone, widest, library_most(), members);
  return 0;
}
"""


class ThreadLimit(ProcessTest):
    def ask(self, program, **variables):
        done = self.run_on_weft(program, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [int(word) for word in done.stdout.split()]

    def test_regions_of_two_calls(self):
        program = self.build("old", OLD_ENTRIES)
        self.assertEqual(self.ask(program, OMP_NUM_THREADS="6"), [6, 3, 6, 4, 4, 8])
        # One region after the other: each may have what the outer two leave.
        self.assertEqual(self.ask(program, OMP_NUM_THREADS="6", OMP_THREAD_LIMIT="4"), [4, 3, 4, 3, 3, 4])
        self.assertEqual(self.ask(program, OMP_NUM_THREADS="6", OMP_THREAD_LIMIT="1"), [1, 1, 1, 1, 1, 1])

    def test_libraries(self):
        library = self.build("libopenblas-like.so", LIBRARY, "-shared", "-fPIC")
        program = self.build("caller", CALLER, str(library))
        settings = {"WEFT_NUM_CPUS": "4", "OMP_NUM_THREADS": "4"}
        alone, _, _, members = self.ask(program, **settings)
        self.assertEqual((alone, members), (4, 8))
        for limit in (1, 2, 3, 4, 5):
            with self.subTest(limit=limit):
                alone, widest, most, members = self.ask(program, OMP_THREAD_LIMIT=str(limit), **settings)
                self.assertEqual(alone, min(limit, 4))
                self.assertLessEqual(widest, limit)
                self.assertLessEqual(most, limit)
                self.assertEqual(members, limit, "all has been given back")


if __name__ == "__main__":
    unittest.main()
