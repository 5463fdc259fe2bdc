# SPDX-License-Identifier: Apache-2.0
"""OpenMP programs that share a node: what they get, and that nothing about the segment can harm them."""

import os
import pathlib
import re
import signal
import time
import unittest

import own_node
from finished import finished
from own_node import NodeTest, Program, segment

FORKS = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int region(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  return members == 2;
}
int main(int count, char** arguments) {
  if (!region()) return 1;
  const pid_t child = fork();
  if (child == 0) {
    if (!region()) return 2;
    if (count > 1) execvp(arguments[1], arguments + 1);
    return 0;
  }
  int status = 1;
  waitpid(child, &status, 0);
  return !region() ? 3 : WEXITSTATUS(status);
}
"""


# Calls of a library outside of regions, each too short to wait for others. Up to 100 x 100 some of its builds have one thread.
BLAS_CALLS = r"""
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *);
enum { n = 200, calls = 50 };
static double a[n * n], b[n * n], c[n * n];
int main(void) {
  const int size = n;
  const double one = 1, none = 0;
  for (int i = 0; i < calls; i++) dgemm_("N", "N", &size, &size, &size, &one, a, &size, b, &size, &none, c, &size);
  return 0;
}
"""
OPENBLAS = next(pathlib.Path("/usr/lib").glob("*/openblas-openmp/libopenblas.so"), None)


OUTER_PROC = ["unshare", "--pid", "--fork", "--kill-child"]


def cpus():
    return sorted(os.sched_getaffinity(0))


class Shares(NodeTest):
    @unittest.skipIf(OPENBLAS is None, "needs the package libopenblas-openmp-dev")
    def test_a_library_has_the_cpus_of_a_process_that_is_alone(self):
        calls = self.build("blas_calls", BLAS_CALLS, str(OPENBLAS), f"-Wl,-rpath,{OPENBLAS.parent}")
        with Program([calls], WEFT_NUM_CPUS="2", WEFT_STATS="all") as alone:
            status, said = alone.end()
        self.assertEqual((status, re.findall(r"regions by level: (\d+)", said)), (0, ["50"]), said)

    def test_two_processes(self):
        with self.work(WEFT_WEIGHT="300") as first, self.work() as second:

            def both():
                found = self.status()
                self.assertLessEqual(sum(p["slots"]["held"] for p in found.values()), len(cpus()))
                return {first.pid, second.pid} <= set(found) and found

            found = self.eventually(both)
            self.assertEqual([found[p.pid]["weight"] for p in (first, second)], [300, 100])
            self.assertEqual(found[first.pid]["command"], "worker")
            self.assertEqual(found[first.pid]["mode"], "dynamic")
            # Whoever has both at some time gives one of them up.
            self.eventually(lambda: sum(p["given"] for p in self.status().values()) > 0)
            for program in (first, second):
                self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    def test_an_idle_process_lends_all(self):
        idle = r"""
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  printf(members == 2 ? "runs\n" : "wrong\n"), fflush(stdout);
  return getchar() != EOF;
}
"""
        with Program([self.build("idle", idle)], WEFT_NUM_CPUS="2") as lender:
            lender.await_first_region()
            self.eventually(lambda: self.status()[lender.pid]["slots"]["held"] == 0)
            with self.work() as worker:
                self.eventually(lambda: self.status()[worker.pid]["slots"]["held"] == min(2, len(cpus())))
                self.assertEqual(worker.end(), (0, ""))
            self.assertEqual(lender.end(), (0, ""))
        self.expect_empty()

    # A task polls on the OS thread of a root, whose own context could go on meanwhile: a worker has to come for that,
    # although the others of the node leave it no slot.
    @unittest.skipIf(len(cpus()) < 2, "one CPU")
    def test_a_root_goes_on_whose_thread_is_busy(self):
        polls = r"""
#include <dlfcn.h>
#include <unistd.h>
static int nothing(void *data) { return data != 0; }
int main(void) {
  int (*serve)(const char *, int (*)(void *), void *) =
      (int (*)(const char *, int (*)(void *), void *))dlsym(RTLD_DEFAULT, "weft_register_polling_service");
  void *(*current)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "weft_get_current_blocking_context");
  void (*block)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "weft_block_current_task");
  void (*unblock)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "weft_unblock_task");
  // From now on tasks may be paused, in teams of one as well.
  if (serve("nothing", nothing, 0) != 0) return 1;
  for (int round = 0; round < 20; round++) {
    void *_Atomic paused = 0;
    _Atomic int freed = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp task shared(paused, freed)
      {
        unblock(paused);
        while (!freed) {
          for (volatile int i = 0; i < 100000; i++) continue;
          usleep(100);
        }
      }
      // The last one first.
#pragma omp task shared(paused, freed)
      {
        paused = current();
        block(paused);
        freed = 1;
      }
    }
  }
  return 0;
}
"""
        # It works for longer than anybody waits for the other one.
        with self.work(10 * own_node.TIMEOUT_S) as worker:
            with Program([self.build("polls", polls)], WEFT_NUM_CPUS="2") as polling:
                self.assertEqual(polling.end(), (0, ""))
            worker.kill()

    # As an MPI rank that waits for others. It uses a CPU, and does not count as running.
    @unittest.skipIf(len(cpus()) < 2, "one CPU")
    def test_a_process_that_yields_between_regions_lends_all(self):
        yields = r"""
#include <poll.h>
#include <sched.h>
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  printf(members == 2 ? "runs\n" : "wrong\n"), fflush(stdout);
  struct pollfd input = {0, POLLIN, 0};
  while (poll(&input, 1, 0) == 0) sched_yield();
  return 0;
}
"""
        with Program([self.build("yields", yields)], WEFT_NUM_CPUS="2") as rank:
            rank.await_first_region()
            with self.work(WEFT_NUM_CPUS="2") as worker:
                self.eventually(lambda: self.status()[worker.pid]["slots"]["held"] == 2)
                self.assertEqual(self.status()[rank.pid]["slots"]["held"], 0)
                self.assertEqual(worker.end(), (0, ""))
            self.assertEqual(rank.end(), (0, ""))
        self.expect_empty()

    @unittest.skipIf(len(cpus()) < 2, "one CPU")
    def test_disjoint_cpus(self):
        first, second = cpus()[:2]
        with (
            self.work(60, 500, "taskset", "-c", str(first), WEFT_NUM_CPUS="1") as left,
            self.work(60, 500, "taskset", "-c", str(second), WEFT_NUM_CPUS="1") as right,
        ):
            self.eventually(lambda: all(self.status()[p.pid]["regions"] > 20 for p in (left, right)))
            found = self.status()
            for program, cpu in ((left, first), (right, second)):
                self.assertEqual(found[program.pid]["cpus"], str(cpu))
                self.assertEqual(found[program.pid]["received"], 0)
                self.assertEqual(found[program.pid]["given"], 0)
                self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    # Neither holds nor wants more than it may use, whatever its regions ask for.
    def test_limited(self):
        one = ("taskset", "-c", str(cpus()[0]))
        for prefix, variables in ((one, {}), ((), {"WEFT_NUM_CPUS": "1"})):
            with (
                self.subTest(prefix=prefix),
                self.work() as other,
                self.work(60, 500, *prefix, members=4, **({"WEFT_NUM_CPUS": "4"} | variables)) as limited,
            ):
                for _ in range(50):
                    found = self.status()
                    for what in ("held", "wanted"):
                        self.assertLessEqual(found[limited.pid]["slots"][what], 1)
                self.eventually(lambda: self.status()[limited.pid]["slots"]["held"] == 1)
                for program in (other, limited):
                    self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    def test_more_processes_than_cpus(self):
        programs = [self.work(2, 300, members=4, WEFT_NUM_CPUS="4") for _ in range(5)]
        for program in programs:
            with program:
                self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    # A member that computes for a second does not keep its slot from another process for as long.
    def test_long_members(self):
        with self.work(60, 1_000_000) as first, self.work(60, 1_000_000) as second:
            self.eventually(lambda: sum(p["received"] for p in self.status().values()) > 0)
            for program in (first, second):
                self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    def test_fork(self):
        forks = self.build("forks", FORKS)
        with Program([forks]) as program:
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()
        with Program([forks, own_node.WEFT, "node", "status"]) as program:
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()


class Ends(NodeTest):
    def test_killed(self):
        with self.work(60, 500) as survivor:
            for _ in range(5):
                with self.work(60, 50) as victim:
                    victim.kill()
                self.eventually(lambda: self.status()[survivor.pid]["slots"]["held"] == min(2, len(cpus())))
            self.assertEqual(survivor.end(), (0, ""))
        self.expect_empty()

    def test_killed_last(self):
        with self.work() as program:
            program.kill()
        self.assertTrue(segment().exists())
        with self.work() as program:
            self.assertEqual(list(self.status()), [program.pid])
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    def test_stopped(self):
        with self.work() as stopped, self.work() as other:
            os.kill(stopped.pid, signal.SIGSTOP)
            before = self.status()[other.pid]["regions"]
            self.eventually(lambda: self.status()[other.pid]["regions"] > before + 20)
            # It does not keep CPUs that it does not use.
            self.eventually(lambda: self.status()[other.pid]["slots"]["held"] == min(2, len(cpus())))
            os.kill(stopped.pid, signal.SIGCONT)
            for program in (stopped, other):
                self.assertEqual(program.end(), (0, ""))
        self.expect_empty()


class Namespaces(NodeTest):
    def expect_both_live(self, programs, count, *prefix):
        """So many processes share the CPUs for a while, whoever looks, and none of them loses what it has."""
        before = self.eventually(lambda: len(self.status(*prefix)) == count and self.status())
        self.assertEqual(before.keys(), self.status(*prefix).keys())
        # Longer than it takes to be seen as stopped.
        end = time.monotonic() + 2
        while time.monotonic() < end:
            found = self.status(*prefix)
            self.assertEqual(found.keys(), before.keys())
            self.assertLessEqual(sum(p["slots"]["held"] for p in found.values()), len(cpus()))
        for pid, process in self.status().items():
            self.assertGreater(process["regions"], before[pid]["regions"])
        for program in programs:
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    @own_node.needs(own_node.OTHER_CLOCKS)
    def test_looked_at_by_another_clock(self):
        with self.work() as first, self.work() as second:
            self.expect_both_live((first, second), 2, *own_node.OTHER_CLOCKS)

    @own_node.needs(own_node.OTHER_CLOCKS)
    def test_clocks_that_differ(self):
        for mode in ("dynamic", "exclusive"):
            with (
                self.subTest(mode),
                self.work(60, 500, *own_node.OTHER_CLOCKS, WEFT_MODE=mode) as first,
                self.work(WEFT_MODE=mode) as second,
            ):
                self.expect_both_live((first, second), 2)

    # Their numbers are others than those of the /proc that they see, which is their parent's.
    @own_node.needs(OUTER_PROC)
    def test_proc_of_another_namespace(self):
        script = """
sleep 4 | "$0" run --node "$@" & pid=$!
sleep 1
for look in 1 2 3; do "$0" node status --json || exit 1; done
kill -0 $pid || exit 1
wait $pid
"""
        done = finished(
            [*OUTER_PROC, "sh", "-c", script, own_node.WEFT, self.worker, "3", "500", "2"],
            env=own_node.clean_environment(WEFT_NUM_CPUS="2"),
            timeout=own_node.TIMEOUT_S,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count('"command": "worker"'), 3, done.stdout)
        self.assertEqual(done.stdout.count('"slots_freed": 0'), 3, done.stdout)
        self.expect_empty()


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
