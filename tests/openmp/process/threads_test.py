# SPDX-License-Identifier: Apache-2.0
"""How many OS threads the runtime has, parked ones included, and how much address space."""

import os
import re
import resource
import unittest

from support import CLANG, GCC, ProcessTest

SUPPORT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support")

COUNTING = """
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <omp.h>

static int most;
static int look(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  for (struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
  closedir(tasks);
  if (count > most) most = count;
  return count;
}
static void nap(long us) { struct timespec t = {us / 1000000, us % 1000000 * 1000}; nanosleep(&t, 0); }
static int tree(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = tree(n - 1);
#pragma omp task shared(b)
  b = tree(n - 2);
#pragma omp taskwait
  return a + b;
}
"""

# All receivers are paused before the first sender runs.
PAUSED = (
    COUNTING
    + f'''#include "{SUPPORT}/mailbox.h"'''
    + """
int main(int argc, char **argv) {
  const int tasks = atoi(argv[1]);
  long sum = 0;
  open_mailbox();
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < tasks; i++) {
#pragma omp task shared(sum)
      {
        long value = receive_from(i);
#pragma omp atomic
        sum += value;
      }
    }
    while (atomic_load(&g_sides) < tasks) yield_task();
    look();
    for (int i = 0; i < tasks; i++) {
#pragma omp task
      send_to(i, i);
    }
  }
  printf("%d %ld\\n", most, sum);
  return 0;
}
"""
)

FLAT = (
    COUNTING
    + """
int main(int argc, char **argv) {
  const int regions = atoi(argv[1]);
  omp_lock_t lock;
  omp_init_lock(&lock);
  double sum = 0;
  for (int i = 0; i < regions; i++) {
    const int pauses = i % 500 == 499;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic) nowait
      for (int j = 0; j < 16; j++) sum += 1;
#pragma omp for ordered
      for (int j = 0; j < 8; j++) {
#pragma omp ordered
        if (pauses) nap(100);
      }
#pragma omp single
      tree(8);
      if (pauses && omp_get_thread_num() == 0) nap(5000);
#pragma omp barrier
#pragma omp critical
      if (pauses) nap(2000);
      omp_set_lock(&lock);
      if (pauses) nap(2000);
      omp_unset_lock(&lock);
#pragma omp for
      for (int j = 0; j < 64; j++) {
        if (j == 40) {
#pragma omp cancel for
        }
#pragma omp cancellation point for
      }
#pragma omp taskgroup
      {
#pragma omp task
        if (pauses) nap(1000);
      }
    }
    if (pauses) {
      look();
      nap(5000);
      look();
    }
  }
  look();
  printf("%d\\n", most);
  return 0;
}
"""
)

# Like programs whose members open small regions of their own: contexts are left here and resumed there.
NESTED = (
    COUNTING
    + """
int main(int argc, char **argv) {
  const int regions = atoi(argv[1]), outer = atoi(argv[2]), inner = atoi(argv[3]);
  unsigned seed = 1;
  for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(outer) firstprivate(seed)
    {
      seed += 77u * omp_get_thread_num() + i;
      for (int k = 0; k < 3; k++) {
#pragma omp parallel num_threads(inner) firstprivate(seed)
        {
          seed += 55u * omp_get_thread_num();
          for (volatile unsigned n = rand_r(&seed) % 40000; n > 0; n--) {}
          if (rand_r(&seed) % 8 == 0) nap(100);
#pragma omp barrier
        }
      }
    }
    if (i % 50 == 0) look();
  }
  look();
  printf("%d\\n", most);
  return 0;
}
"""
)

# Loops of as many members as there are CPUs inside of each other. No inner member waits.
LOOPS = (
    COUNTING
    + """
int main(int argc, char **argv) {
  const int outer = atoi(argv[1]);
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
  for (int i = 0; i < outer; i++) {
    const int members = omp_get_max_threads();
    long inner = 0;
#pragma omp parallel for reduction(+ : inner)
    for (int j = 0; j < members; j++) {
      for (volatile unsigned n = 4000; n > 0; n--) {}
      inner += j;
    }
    sum += inner == members * (members - 1L) / 2;
    if (i % 16 == 0) {
#pragma omp critical
      look();
    }
  }
  look();
  printf("%ld %d\\n", sum, most);
  return 0;
}
"""
)

# All members but one are suspended at the same time: they come to a door that it holds. How many threads there are then
# hangs on the machine's load by those alone that have been lent, which the statistics tell.
DOOR = (
    COUNTING
    + """
static int settle(void) {
  int count = look();
  for (int same = 0, looks = 0; same < 20 && looks < 2000; looks++) {
    nap(10000);
    const int before = count;
    count = look();
    same = count == before ? same + 1 : 0;
  }
  return count;
}
static omp_lock_t door;
int main(int argc, char **argv) {
  const int outer = atoi(argv[1]), inner = atoi(argv[2]), calm = atoi(argv[3]);
  int begun = 0, there = 0, over = 0;
  omp_init_lock(&door);
#pragma omp parallel num_threads(outer)
  {
    const int team = omp_get_thread_num();
#pragma omp parallel num_threads(inner)
    {
      __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
      if (team == 0 && omp_get_thread_num() == 0) {
        omp_set_lock(&door);
        while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < outer * inner) nap(1000);
        there = settle();
        over = 1;
        omp_unset_lock(&door);
      }
      for (int ended = 0; !ended;) {
        omp_set_lock(&door);
        ended = over;
        omp_unset_lock(&door);
      }
    }
  }
  // A program in its flat part.
  int left = there;
  for (int i = 0; i < 3000 && left > calm; i++) {
#pragma omp parallel num_threads(2)
    nap(1000);
    nap(10000);
    left = look();
  }
  printf("%d %d\\n", there, left);
  return 0;
}
"""
)

# Nothing is left to do, or to give back, after a while: then nobody wakes up.
CALM = (
    COUNTING
    + """
static long switches(void) {
  DIR *tasks = opendir("/proc/self/task");
  long sum = 0;
  char name[300], line[200];
  for (struct dirent *entry; (entry = readdir(tasks));) {
    if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid()) continue;
    snprintf(name, sizeof name, "/proc/self/task/%s/status", entry->d_name);
    FILE *status = fopen(name, "r");
    if (!status) continue;
    long number;
    while (fgets(line, sizeof line, status)) {
      if (sscanf(line, "voluntary_ctxt_switches: %ld", &number) == 1) sum += number;
    }
    fclose(status);
  }
  closedir(tasks);
  return sum;
}
int main(int argc, char **argv) {
  const int outer = atoi(argv[1]), inner = atoi(argv[2]);
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(inner)
    {
      nap(500);
#pragma omp barrier
    }
  }
  long woken = -1;
  for (int i = 0; i < 20 && woken != 0; i++) {
    const long before = switches();
    nap(1700000);
    woken = switches() - before;
  }
  printf("%ld\\n", woken);
  return 0;
}
"""
)

# What a thread keeps for itself may need what the program destroys at its end.
ENDS = """
#include <atomic>
#include <cstdio>
#include <unistd.h>
static std::atomic<bool> gone{false};
static std::atomic<int> begun{0}, late{0};
struct Last {
  ~Last() { std::printf("%d\\n", late.load()); }
} last;
struct Registry {
  ~Registry() {
    gone = true;
    usleep(2500000);
  }
} registry;
struct Entry {
  volatile int used = 0;
  Entry() { begun++; }
  ~Entry() { late += gone; }
};
thread_local Entry entry;
int main() {
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(8)
  {
    entry.used = 1;
    usleep(500);
#pragma omp barrier
  }
  return begun < 9;
}
"""

SPACE = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  long sum = 0;
  for (int i = 0; i < 200; i++) {
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
    for (int j = 0; j < 64; j++) {
      char *block = malloc(100000);
      if (!block) abort();
      block[j] = 1;
      sum += block[j];
      free(block);
    }
  }
  char *most = malloc(150u << 20);
  if (!most) return 1;
  printf("%ld\\n", sum);
  return 0;
}
"""


# More slots than CPUs, by WEFT_NUM_CPUS: threads, and mappings that they have brought.
MANY = (
    COUNTING
    + """
static int mappings(void) {
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c; (c = fgetc(maps)) != EOF;) count += c == '\\n';
  fclose(maps);
  return count;
}
int main(void) {
  int members = 0;
  const int before = mappings();
  for (int i = 0; i < 20; i++) {
#pragma omp parallel reduction(+ : members)
    members++;
    look();
  }
  printf("%d %d %d\\n", members / 20, most, mappings() - before);
  return 0;
}
"""
)


class Threads(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nested = cls.build("nested", NESTED)
        cls.door = cls.build("door", DOOR)

    def numbers(self, *command, **variables):
        done = self.run_on_weft(*command, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(word) for word in done.stdout.split()]

    def test_flat_programs_have_their_members_the_monitor_and_one(self):
        for compiler in ("gcc", CLANG):
            program = self.build(f"flat-{compiler}", FLAT, compiler=compiler)
            for members, cpus in ((2, 2), (2, 8), (8, 8)):
                for regions in (1, 1500 if members == 2 else 500):
                    for policy in ("", "passive"):
                        with self.subTest(
                            compiler=compiler, members=members, cpus=cpus, regions=regions, policy=policy
                        ):
                            self.assert_flat(program, str(regions), members, cpus, policy or "active")

    def assert_flat(self, program, regions, members, cpus, policy):
        """Where other programs keep threads from the CPUs, members leave those, and others of the CPUs' threads come instead."""
        for _ in range(10):
            done = self.run_on_weft(
                program,
                regions,
                OMP_NUM_THREADS=str(members),
                WEFT_NUM_CPUS=str(cpus),
                OMP_CANCELLATION="true",
                OMP_WAIT_POLICY=policy,
                WEFT_STATS="all",
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            late = int(re.search(r"(\d+) of them late", done.stderr)[1])
            most = int(done.stdout)
            self.assertLessEqual(most, (members if late == 0 else max(members, cpus) + members) + 2)
            if late == 0:
                return

    def test_members_that_share_cpus_by_order_bring_a_thread_each(self):
        program = self.build("many", MANY)
        members, threads, mappings = self.numbers(program, WEFT_NUM_CPUS="192")
        self.assertEqual(members, 192)
        # The monitor and a spare one.
        self.assertLessEqual(threads, members + 2)
        # All stacks stand in one mapping, where the system can guard pages within it. Else each member has a stack and
        # the handlers' stack, with a guard each; and malloc maps something for some threads.
        guards_within = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 13)
        self.assertLessEqual(mappings, 100 if guards_within else 6 * members + 40)

    def test_more_members_than_cpus_cost_what_is_suspended(self):
        program = self.build("flat", FLAT)
        (most,) = self.numbers(program, "500", OMP_NUM_THREADS="8", WEFT_NUM_CPUS="2", OMP_CANCELLATION="true")
        # The initial thread, a worker, the monitor, six that are suspended; and a few.
        self.assertLessEqual(most, 9 + 6)

    def test_paused_tasks_need_no_thread_each(self):
        program = self.build("paused", PAUSED)
        tasks = 300
        for cpus in (1, 2, 8):
            with self.subTest(cpus=cpus):
                most, right = self.numbers(program, str(tasks), WEFT_NUM_CPUS=str(cpus))
                self.assertEqual(right, sum(range(tasks)))
                self.assertLessEqual(most, cpus + 8)
        # Nobody answers in libc's place.
        most, _ = self.numbers(program, str(tasks), WEFT_NUM_CPUS="2", WEFT_ADOPT_LIBRARIES="false")
        self.assertGreater(most, tasks)

    def test_nested_regions_use_the_contexts_that_are_free(self):
        (most,) = self.numbers(self.nested, "600", "2", "4", OMP_NUM_THREADS="2", WEFT_NUM_CPUS="2")
        # Eight members at a time; a few for each carrier.
        self.assertLessEqual(most, 8 + 24)

    def counted(self, done):
        """What the statistics say of identities: at most, now, now with a thread, ended; and at most at work."""
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(
            r"carry work: at most (\d+), \d+ of them late; identities beside theirs: "
            r"at most (\d+), (\d+) now, (\d+) of them with an OS thread that is parked, (\d+) ended",
            done.stderr,
        )
        self.assertIsNotNone(found, done.stderr)
        working, *parked = map(int, found.groups())
        return *parked, working

    # One for each member would be the square of the CPUs. How many threads work hangs on those that have been lent.
    def test_inner_members_that_do_not_wait_need_no_identity_each(self):
        for compiler in ("gcc", CLANG):
            program = self.build(f"loops-{compiler}", LOOPS, compiler=compiler)
            for cpus in (8, 32, 96):
                with self.subTest(compiler=compiler, cpus=cpus):
                    done = self.run_on_weft(
                        program,
                        str(3 * cpus),
                        WEFT_NUM_CPUS=str(cpus),
                        WEFT_STATS="all",
                        WEFT_PARKED_THREADS="16",
                    )
                    parked, _, with_thread, _, working = self.counted(done)
                    self.assertEqual(int(done.stdout.split()[0]), 3 * cpus)
                    self.assertLessEqual(parked, max(16, cpus) + cpus + working)
                    self.assertLessEqual(with_thread, 16)

    def test_idle_ones_are_given_back(self):
        done = self.run_on_weft(self.door, "4", "16", "20", WEFT_NUM_CPUS="2", WEFT_STATS="all")
        *_, working = self.counted(done)
        there, left = map(int, done.stdout.split())
        # 63 that are suspended, those that work or have, the monitor; and one.
        self.assertIn(there - 63 - working, (0, 1, 2))
        self.assertLessEqual(left, 20)

    def test_in_the_end_nobody_wakes_up(self):
        self.assertEqual(self.numbers(self.build("calm", CALM), "4", "32", WEFT_NUM_CPUS="8"), [0])

    def test_none_is_given_back_while_the_program_ends(self):
        program = self.build("ends", ENDS, compiler=GCC.replace("gcc", "g++"))
        self.assertEqual(self.numbers(program, WEFT_NUM_CPUS="2"), [0])

    def test_address_space_is_enough_for_few(self):
        program = self.build("space", SPACE)
        limits = {resource.RLIMIT_AS: 400000 << 10}
        done = self.run_on_weft(program, limits=limits, OMP_NUM_THREADS="2", WEFT_NUM_CPUS="2")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, str(200 * 64)), done.stderr)

    def test_statistics_count_them(self):
        done = self.run_on_weft(self.door, "4", "16", "1000", WEFT_NUM_CPUS="2", WEFT_STATS="all")
        most, now, _, ended, working = self.counted(done)
        there = int(done.stdout.split()[0])
        self.assertIn(there - most - working, (0, 1, 2))
        self.assertGreaterEqual(most, 62)
        self.assertLessEqual(now, most)
        self.assertLess(ended, most)


if __name__ == "__main__":
    unittest.main()
