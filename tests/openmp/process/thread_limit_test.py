# SPDX-License-Identifier: Apache-2.0
"""OMP_THREAD_LIMIT counts the members of every region, however it was begun."""

import unittest

from support import CLANG, RUNTIME, ProcessTest

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

# A region that is a loop of three iterations, first by a team of several members, then where the limit leaves one.
FEW = r"""
#include <omp.h>
#include <stdio.h>
static int hits;
__attribute__((noinline)) static void three(void)
{
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 3; i++) __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}
int main(void)
{
  int calls = 0;
  for (int i = 0; i < 4; i++, calls++) three();
  for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(4) reduction(+ : calls)
    {
      calls++;
      three();
    }
  }
  printf("%d\n", hits - 3 * calls);
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


RESERVE = r"""
#include <omp.h>
#include <stdio.h>
static int size_of(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  members++;
  return members;
}
int main(void)
{
  printf("%d %d\n", size_of(6), omp_get_thread_limit());
  return 0;
}
"""

# A task that a free agent may run, which the thread that has created it waits for without running it.
AGENT = r"""
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
typedef int32_t (*routine)(int32_t, void *);
void *__kmpc_omp_task_alloc(void *, int32_t, int32_t, size_t, size_t, routine);
int32_t __kmpc_omp_task(void *, int32_t, void *);
int omp_is_free_agent(void);
static volatile int done, by_agent;
static int32_t body(int32_t gtid, void *task)
{
  (void)gtid, (void)task;
  by_agent = omp_is_free_agent();
  return done = 1;
}
int main(void)
{
  __kmpc_omp_task(NULL, 0, __kmpc_omp_task_alloc(NULL, 0, 0x81, 48, 0, body));
  const struct timespec nap = {0, 1000000};
  for (int i = 0; i < 20000 && !done; i++) nanosleep(&nap, NULL);
#pragma omp taskwait
  printf("%d\n", by_agent);
  return 0;
}
"""


class ThreadsReserve(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.build("reserve", RESERVE)
        # The compiler's own runtime lacks a name.
        cls.agent = cls.build("agent", AGENT, f"-L{RUNTIME}", compiler=CLANG)

    def test_what_regions_leave_to_free_agents(self):
        for reserve, members in (
            ("structured(2),free_agent(2)", 4),
            ("free_agent(1)", 5),
            ("free_agent", 1),
            ("structured", 6),
            ("4", 6),
            # More than there are: nothing is reserved.
            ("structured(4),free_agent(4)", 6),
        ):
            with self.subTest(reserve=reserve):
                done = self.run_on_weft(self.program, OMP_THREAD_LIMIT="6", OMP_THREADS_RESERVE=reserve)
                self.assertEqual((done.stdout, done.stderr), (f"{members} 6\n", ""))

    def test_without_a_limit_there_is_enough(self):
        done = self.run_on_weft(self.program, OMP_THREADS_RESERVE="structured(2),free_agent(2)")
        self.assertEqual((done.stdout, done.stderr), ("6 2147483647\n", ""))

    def test_values_that_are_none(self):
        for reserve in ("structured(2),structured(1)", "structured,free_agent", "structured()", "agents(1)", "-1"):
            with self.subTest(reserve=reserve):
                done = self.run_on_weft(self.program, OMP_THREAD_LIMIT="6", OMP_THREADS_RESERVE=reserve)
                self.assertEqual(done.stdout, "6 6\n")
                self.assertIn("OMP_THREADS_RESERVE", done.stderr)

    def test_what_is_left_to_free_agents(self):
        settings = {"WEFT_NUM_CPUS": "4", "OMP_NUM_THREADS": "1"}
        for reserve, by_agent in (("structured(2)", 1), ("structured", 0)):
            with self.subTest(reserve=reserve):
                done = self.run_on_weft(self.agent, OMP_THREAD_LIMIT="4", OMP_THREADS_RESERVE=reserve, **settings)
                self.assertEqual((done.stdout, done.stderr), (f"{by_agent}\n", ""))


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

    def test_loops_of_few_iterations(self):
        program = self.build("few", FEW)
        for limit in "2", "4", "5", "6":
            for cpus in "1", "2", "8":
                with self.subTest(limit=limit, cpus=cpus):
                    settings = {"OMP_THREAD_LIMIT": limit, "WEFT_NUM_CPUS": cpus, "OMP_NUM_THREADS": "8"}
                    self.assertEqual(self.ask(program, **settings), [0])

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
