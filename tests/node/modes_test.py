# SPDX-License-Identifier: Apache-2.0
"""WEFT_MODE=exclusive and counting among processes that share a node: who may be in a region, and that none of them can
keep the others out for ever."""

import os
import random
import signal
import time
import unittest

import own_node
from own_node import NodeTest, Program

# Two application threads with regions until the input ends. The shared file says who is inside: a process number, and
# how many threads. What others have left that were killed inside is no offence, nor are their threads counted.
MODES = r"""
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static struct { atomic_int process, threads; } *shared;
static int exclusive, counting, microseconds;
static atomic_int wrong, over;

static int alive(int pid) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  const char* state = strrchr(text, ')');
  return state && state[2] != 'Z' && state[2] != 'X';
}
static void enter(int threads) {
  if (exclusive) {
    const int before = atomic_exchange(&shared->process, getpid());
    for (int i = 0; before && alive(before); i++) {
      if (i == 1000 || before == getpid()) { atomic_store(&wrong, 1); break; }
      usleep(10000);
    }
  }
  if (counting && atomic_fetch_add(&shared->threads, threads) + threads > omp_get_num_procs() &&
      threads <= omp_get_num_procs())
    atomic_store(&wrong, 1);
}
static void leave(int threads) {
  int self = getpid();
  if (exclusive) atomic_compare_exchange_strong(&shared->process, &self, 0);
  if (counting) atomic_fetch_sub(&shared->threads, threads);
}
static void* root(void* argument) {
  const int members = argument ? 2 : omp_get_num_procs();
  for (long i = 0; !atomic_load(&over); i++) {
    int seen = 0;
#pragma omp parallel num_threads(members) reduction(+ : seen)
    {
      if (omp_get_thread_num() == 0) enter(members);
#pragma omp barrier
      seen++;
      const double until = omp_get_wtime() + 1e-6 * microseconds;
      while (omp_get_wtime() < until) continue;
#pragma omp barrier
      if (omp_get_thread_num() == 0) leave(members);
    }
    if (seen != members) atomic_store(&wrong, 1);
    if (i == 0 && argument) printf("runs\n"), fflush(stdout);
  }
  return NULL;
}
int main(int count, char** arguments) {
  microseconds = atoi(arguments[2]);
  const int file = open(arguments[1], O_RDWR);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count < 3 || shared == MAP_FAILED) return 2;
  exclusive = !strcmp(getenv("WEFT_MODE"), "exclusive");
  counting = !exclusive;
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, root, (void*)i);
  struct pollfd input = {0, POLLIN, 0};
  poll(&input, 1, -1);
  atomic_store(&over, 1);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return wrong;
}
"""

# The region of the first process ends when that of the second has begun: the one reads what the other one writes.
WAITS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** arguments) {
  const int reads = !strcmp(arguments[1], "read");
  int ok = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    if (reads) printf("runs\n"), fflush(stdout);
    const int file = open(arguments[2], reads ? O_RDONLY : O_WRONLY);
    char byte = 'x';
    ok = (reads ? read(file, &byte, 1) : write(file, &byte, 1)) == 1;
  }
  return count != 3 || !ok;
}
"""

CPUS = len(os.sched_getaffinity(0))


class Modes(NodeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.modes = cls.build("modes", MODES)
        cls.waits = cls.build("waits", WAITS)

    def setUp(self):
        (self.folder / "shared").write_bytes(bytes(8))

    def start(self, mode, us=200):
        return Program([self.modes, self.folder / "shared", us], WEFT_MODE=mode)

    def all_go_on(self, programs, regions=20):
        before = {pid: process["regions"] for pid, process in self.status().items()}

        def each_has_moved():
            found = self.status()
            return all(p.pid in found and found[p.pid]["regions"] >= before.get(p.pid, 0) + regions for p in programs)

        self.eventually(each_has_moved)

    def end(self, programs):
        for program in programs:
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    def test_alone_or_as_many_as_fit(self):
        for mode in ("exclusive", "counting"):
            with self.subTest(mode=mode):
                self.setUp()
                programs = [self.start(mode) for _ in range(3)]
                try:
                    for program in programs:
                        program.await_first_region()
                    self.all_go_on(programs, 100)
                    self.assertEqual({p["mode"] for p in self.status().values()}, {mode})
                    self.end(programs)
                finally:
                    for program in programs:
                        program.__exit__()

    def test_killed(self):
        programs = [self.start("exclusive", random.choice((20, 500))) for _ in range(3)]
        try:
            for _ in range(20):
                victim = random.randrange(3)
                if random.random() < 0.8:
                    programs[victim].await_first_region()
                time.sleep(random.choice((0, 0.005, 0.03)))
                programs[victim].kill()
                programs[victim].__exit__()
                programs[victim] = self.start("exclusive", random.choice((20, 500)))
            self.all_go_on(programs)
            self.end(programs)
        finally:
            for program in programs:
                program.__exit__()

    # Whoever of the two is inside: the other one goes on.
    def test_stopped(self):
        with self.work(WEFT_MODE="exclusive") as stopped, self.work(WEFT_MODE="exclusive") as other:
            for _ in range(3):
                os.kill(stopped.pid, signal.SIGSTOP)
                self.all_go_on([other])
                os.kill(stopped.pid, signal.SIGCONT)
                self.all_go_on([stopped, other])
            self.end([stopped, other])

    # One that waits has no CPU.
    def test_waiting_holds_no_slots(self):
        def holds(program, slots):
            found = self.status()
            return program.pid in found and found[program.pid]["slots"]["held"] == slots

        with Program([self.worker, 600, 600_000_000], WEFT_MODE="exclusive", WEFT_NUM_CPUS="2") as inside:
            self.eventually(lambda: holds(inside, min(2, CPUS)))
            with Program([self.worker, 600, 100], WEFT_MODE="exclusive", WEFT_NUM_CPUS="2") as waits:
                self.eventually(lambda: waits.pid in self.status())
                time.sleep(0.3)
                self.eventually(lambda: holds(waits, 0) and holds(inside, min(2, CPUS)))
                self.assertEqual(self.status()[waits.pid]["regions"], 0)
                inside.kill()
                waits.await_first_region()
                self.end([waits])

    def test_sleeps_for_another_process(self):
        for mode in ("exclusive", "counting"):
            with self.subTest(mode=mode):
                fifo = self.folder / f"fifo-{mode}"
                os.mkfifo(fifo)
                with Program([self.waits, "read", fifo], WEFT_MODE=mode, WEFT_NUM_CPUS="2") as first:
                    first.await_first_region()
                    with Program([self.waits, "write", fifo], WEFT_MODE=mode, WEFT_NUM_CPUS="2") as second:
                        self.end([second, first])


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
