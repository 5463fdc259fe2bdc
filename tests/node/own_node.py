# SPDX-License-Identifier: Apache-2.0
"""For tests of processes that share a node: a namespace of process numbers of their own, if the system lets them have one,
so that they meet nobody else; and programs to run there."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = os.environ["WEFT_COMMAND"]
GCC = os.environ.get("WEFT_TEST_GCC", "gcc")
TIMEOUT_S = 100
# The first for who is root, and remains it: files of others can be had.
NAMESPACES = [
    ["unshare", *user, "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]
    for user in ((), ("--map-root-user", "--user"))
]

# What starts a program in a namespace where clocks show another time. `--fork`: only children are in it.
OTHER_CLOCKS = ["unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000", "--fork", "--kill-child"]

# Runs regions of two members, of so many microseconds each, for so many seconds, or until its input ends.
WORKER = r"""
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static int told_to_end(void) {
  struct pollfd input = {0, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}
int main(int count, char** arguments) {
  const double end = now() + atof(arguments[1]);
  const double each = 1e-6 * atof(arguments[2]);
  const int members = count > 3 ? atoi(arguments[3]) : 2;
  long regions = 0;
  for (; now() < end && !told_to_end(); regions++) {
    int seen = 0;
#pragma omp parallel num_threads(members) reduction(+ : seen)
    {
      seen++;
      const double until = now() + each;
      while (now() < until) continue;
    }
    if (seen != members) return 1;
    if (regions == 0) printf("runs\n"), fflush(stdout);
  }
  return 0;
}
"""


def enter():
    """Starts the calling script again in namespaces of its own; returns if it is there, or there are none to be had."""
    if os.environ.get("WEFT_TEST_NODE") or os.environ.get("WEFT_TEST_NO_NAMESPACE"):
        return
    for namespace in NAMESPACES:
        if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode == 0:
            os.environ["WEFT_TEST_NODE"] = "own"
            os.execvp(namespace[0], [*namespace, sys.executable, *sys.argv])


def number(default):
    """The number that the script was given as its last argument."""
    return int(sys.argv[-1]) if len(sys.argv) > 1 and sys.argv[-1].isdigit() else default


def main():
    unittest.main(argv=[x for x in sys.argv if not x.isdigit()])


def needs(command):
    """The test is skipped where a program cannot be started that way."""
    works = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return unittest.skipUnless(is_own() and works, f"not to be had here: {' '.join(command[:3])}")


def is_own():
    return os.environ.get("WEFT_TEST_NODE") == "own"


def segment(user=None):
    user = os.geteuid() if user is None else user
    return pathlib.Path(f"/dev/shm/weft-node-{user}-{os.stat('/proc/self/ns/pid').st_ino}")


def clean_environment(**variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_", "WEFT_", "LD_"))}
    return environment | variables


def weft(*arguments, prefix=(), **options):
    return subprocess.run(
        [*prefix, WEFT, *map(str, arguments)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        **options,
    )


class Program:
    """One that shares the node, with streams of its own; it ends with the test at the latest."""

    def __init__(self, command, *prefix, **variables):
        self.process = subprocess.Popen(
            [*prefix, WEFT, "run", "--node", *map(str, command)],
            env=clean_environment(**variables),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    @property
    def pid(self):
        return self.process.pid

    def await_first_region(self):
        assert self.process.stdout.readline() == "runs\n", self.process.communicate()[1]

    def end(self):
        """Its exit status and what it has said on stderr."""
        _, said = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, said

    def kill(self):
        self.process.kill()
        self.process.wait()


class NodeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-node-")))
        cls.worker = cls.build("worker", WORKER)

    @classmethod
    def build(cls, name, source, *libraries):
        file = cls.folder / f"{name}.c"
        file.write_text(source)
        subprocess.run(
            [GCC, "-O1", "-fopenmp", "-D_GNU_SOURCE", str(file), "-o", str(cls.folder / name), *libraries], check=True
        )
        return cls.folder / name

    def work(self, seconds=60, us=500, *prefix, members=2, **variables):
        """A program in its first region or beyond it."""
        program = Program([self.worker, seconds, us, members], *prefix, **({"WEFT_NUM_CPUS": "2"} | variables))
        program.await_first_region()
        return program

    def status(self, *prefix):
        """The processes by their number."""
        done = weft("node", "status", "--json", prefix=prefix)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {process["pid"]: process for process in json.loads(done.stdout)["processes"]}

    def eventually(self, what, seconds=60):
        """Waits for what is said to happen; on a busy machine that may take its time."""
        end = time.monotonic() + seconds
        while not (result := what()):
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.01)
        return result

    def expect_empty(self):
        self.assertFalse(segment().exists() and self.status())
        if is_own():
            self.assertFalse(segment().exists())
