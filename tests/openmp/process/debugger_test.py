# SPDX-License-Identifier: Apache-2.0
"""The gdb extension finds the members that no thread runs: where they wait, in which team, with their local variables."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from finished import finished
from support import CLANG, GCC, RUNTIME, TIMEOUT_S, ProcessTest

EXTENSION = pathlib.Path(__file__).parents[3] / "tools" / "gdb" / "weft-gdb.py"

# 3 outer members open regions of 3: 6 wait in an inner barrier, 2 for a lock, 1 stays awake and calls everybody_waits.
BLOCKED = """
#include <omp.h>
#include <unistd.h>
static volatile int arrived, never;
__attribute__((noinline)) static void everybody_waits(void) { usleep(1000); }
__attribute__((noinline)) static void waits_in_inner_barrier(int me) {
  volatile int local_of_inner = 100 + me;
#pragma omp atomic
  arrived++;
#pragma omp barrier
  never += local_of_inner;
}
__attribute__((noinline)) static void waits_for_lock(omp_lock_t *lock) {
#pragma omp atomic
  arrived++;
  omp_set_lock(lock);
  never++;
}
__attribute__((noinline)) static void stays_awake(void) {
  while (arrived < 8) usleep(1000);
  usleep(300000);
  for (;;) everybody_waits();
}
__attribute__((noinline)) static void opens_inner(omp_lock_t *lock, int outer) {
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() < 2) waits_in_inner_barrier(omp_get_thread_num());
    else if (outer > 0) waits_for_lock(lock);
    else stays_awake();
  }
}
int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel num_threads(3)
  opens_inner(&lock, omp_get_thread_num());
}
"""

# It hangs: of each of 2 inner teams 2 members wait in a barrier for the third, which waits for a lock that nobody
# unsets. A thread beside OpenMP says so, or aborts.
HANGS = """
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
static omp_lock_t lock;
static volatile int arrived, never;
__attribute__((noinline)) static void waits_in_barrier(int who) {
  volatile int local_of_member = who;
#pragma omp atomic
  arrived++;
#pragma omp barrier
  never += local_of_member;
}
__attribute__((noinline)) static void waits_for_lock(void) {
#pragma omp atomic
  arrived++;
  omp_set_lock(&lock);
  never++;
}
__attribute__((noinline)) static void opens_inner(int outer) {
#pragma omp parallel num_threads(3)
  {
    const int me = omp_get_thread_num();
    if (me < 2) waits_in_barrier(100 + 10 * outer + me);
    else waits_for_lock();
#pragma omp barrier
  }
  never++;
}
static void *looks_on(void *aborts) {
  while (arrived < 6) usleep(1000);
  if (aborts) {
    usleep(300000);
    abort();
  }
  puts("all wait");
  fflush(stdout);
  for (;;) pause();
}
int main(int count, char **arguments) {
  (void)arguments;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  pthread_t looker;
  pthread_create(&looker, NULL, looks_on, count > 1 ? &lock : NULL);
#pragma omp parallel num_threads(2)
  opens_inner(omp_get_thread_num());
  never++;
}
"""
LOCALS = """python
for context in all_contexts():
    if "waits_in_barrier" in where(context):
        for command in ("weft show " + context.name, "frame function waits_in_barrier", "info locals"):
            gdb.execute(command)
end
"""


@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
@unittest.skipUnless(os.uname().machine == "x86_64", "the extension knows x86-64 only")
class Debugger(ProcessTest):
    def gdb(self, program, *commands, stop="everybody_waits"):
        first = [
            "set confirm off",
            "set debuginfod enabled off",
            f"set environment LD_LIBRARY_PATH {RUNTIME}",
            f"source {EXTENSION}",
            f"break {stop}",
            "run",
        ]
        return self.batch([*first, *commands, "kill"], program)

    def batch(self, commands, *arguments):
        words = [part for command in commands for part in ("-ex", command)]
        done = finished(
            ["gdb", "-nx", "-q", "-batch", *words, *arguments],
            env={k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_"))},
            timeout=2 * TIMEOUT_S,
        )
        text = done.stdout + done.stderr
        if "ptrace" in text and "Operation not permitted" in text:
            self.skipTest("gdb may not trace here")
        return text

    def look(self, *arguments):
        """What the commands say of HANGS, which another gdb has not started: a process that runs, or a core file."""
        script = self.folder / "locals.gdb"
        script.write_text(LOCALS)
        first = ["set confirm off", "set debuginfod enabled off", f"source {EXTENSION}"]
        commands = ["weft threads", "echo ==\\n", "weft backtrace all", "echo ==\\n", f"source {script}"]
        return self.batch([*first, *commands], *map(str, arguments))

    def check_hang(self, text):
        """Each member where it is, and not where the selected thread is."""
        listing, backtraces, shown = text.split("==\n")
        rows = [line for line in listing.splitlines() if re.search(r" [012]/3 ", line)]
        self.assertEqual(len(rows), 6, text)
        for row in rows:
            function = "waits_for_lock" if " 2/3 " in row else "waits_in_barrier"
            self.assertRegex(row, r"(suspended|asleep LWP \d+ \(thread \d+\)) ", text)
            self.assertRegex(row, rf" called by {function} at hangs\.c:\d+$", text)
        for function, count in (("waits_in_barrier", 4), ("waits_for_lock", 2), ("opens_inner", 2), ("main", 1)):
            self.assertEqual(len(re.findall(rf"^#\d+ +{function} at ", backtraces, re.MULTILINE)), count, text)
        values = re.findall(r"local_of_member = (\d+)", shown)
        self.assertEqual(sorted(values), ["100", "101", "110", "111"], text)

    def test_suspended_members(self):
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                program = self.build(f"blocked_{compiler}", BLOCKED, compiler=compiler)
                text = self.gdb(program, "weft threads", "echo ==\\n", "weft backtrace all")
                listing, backtraces = text.split("==\n")
                rows = [line for line in listing.splitlines() if re.search(r" [012]/3 ", line)]
                self.assertEqual(len(rows), 9, text)
                self.assertEqual(
                    len({(row.split("0x")[1].split()[0], re.search(r" ([012])/3 ", row)[1]) for row in rows}), 9, text
                )
                self.assertEqual(
                    sum(
                        " LWP " not in row.replace("asleep LWP", "") and "waits_in_inner_barrier" in row for row in rows
                    ),
                    6,
                    text,
                )
                self.assertEqual(
                    sum(" LWP " not in row.replace("asleep LWP", "") and "waits_for_lock" in row for row in rows),
                    2,
                    text,
                )
                self.assertEqual(sum(" LWP " in row and "everybody_waits" in row for row in rows), 1, text)
                self.assertEqual(backtraces.count(" opens_inner at "), 3, text)  # by the primaries of the inner regions
                self.assertEqual(len(re.findall(r"^#\d+ +main at ", backtraces, re.MULTILINE)), 1, text)

    def test_frames_of_one(self):
        program = self.build("blocked", BLOCKED)
        # The numbers of contexts depend on who came first.
        text = self.gdb(
            program,
            "python ID = [c for c in all_contexts() if 'waits_in_inner' in where(c)][0].name",
            "python gdb.execute('weft show ' + ID)",
            "frame function waits_in_inner_barrier",
            "info locals",
            "weft show",
            "bt 1",
            "continue 3",
            "info breakpoints",
        )
        self.assertRegex(text, r"local_of_inner = 10[01]\n", text)
        self.assertRegex(text, r"#0  everybody_waits \(\)", text)
        self.assertIn("already hit", text)

    def start_hang(self):
        """A process of which all members wait and none is awake."""
        program = self.build("hangs", HANGS)
        small_stack = 1 << 20  # so that a core file is small
        process = subprocess.Popen(
            [program],
            stdout=subprocess.PIPE,
            text=True,
            env={**self.environment(), "OMP_STACKSIZE": "256K", "MALLOC_ARENA_MAX": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (small_stack, small_stack)),
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "all wait\n")
        asleep = 0
        deadline = time.monotonic() + TIMEOUT_S
        while asleep < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
            stats = [file.read_text() for file in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")]
            asleep = asleep + 1 if all(stat.rsplit(") ", 1)[1][0] == "S" for stat in stats) else 0
        return process

    @staticmethod
    def environment():
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_"))}
        return {**kept, "LD_LIBRARY_PATH": str(RUNTIME)}

    def test_a_process_that_hangs(self):
        self.check_hang(self.look("-p", self.start_hang().pid))

    def test_a_core_of_a_process_that_hangs(self):
        process = self.start_hang()
        core = self.folder / "core.hang"
        said = self.batch([f"gcore {core}"], "-p", str(process.pid))
        self.assertTrue(core.exists(), said)
        process.kill()
        self.check_hang(self.look(self.folder / "hangs", core))

    def test_a_core_of_a_process_that_aborts(self):
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text()
        if not pattern.startswith("core") or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("core files go elsewhere")
        program = self.build("hangs", HANGS)
        folder = self.folder / "cores"
        folder.mkdir()
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        done = subprocess.run(
            [program, "abort"],
            cwd=folder,
            env=self.environment(),
            timeout=TIMEOUT_S,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
        )
        self.assertEqual(done.returncode, -signal.SIGABRT)
        (core,) = folder.iterdir()
        self.check_hang(self.look(program, core))

    def test_messages(self):
        program = self.build("blocked", BLOCKED)
        text = self.gdb(program, "weft backtrace 999", "weft backtrace")
        self.assertIn("no context 999", text)
        self.assertIn("weft backtrace ID", text)
        self.assertIn("no parallel region has begun", self.gdb(program, "weft threads", stop="main"))


if __name__ == "__main__":
    unittest.main()
